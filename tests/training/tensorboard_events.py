"""A reader of TensorBoard's event files that needs no TensorBoard."""

import pathlib
import struct

from tensorboardX.proto.event_pb2 import Event


def read_scalars(folder: pathlib.Path) -> list[tuple[str, int, float]]:
    """(name, step, value) of every scalar in a folder of events, in order."""
    scalars = []
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        position = 0
        while position < len(content):
            # A record: length (8 bytes), its checksum (4), content, checksum (4).
            (length,) = struct.unpack_from("<Q", content, position)
            event = Event.FromString(content[position + 12 : position + 12 + length])
            scalars += [
                (value.tag, event.step, value.simple_value)
                for value in event.summary.value
            ]
            position += 12 + length + 4
    return scalars
