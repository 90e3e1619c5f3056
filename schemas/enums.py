"""Words of code fields: the number stays in its column, `<field>_text` contains the word.

The second word of a pair is the word of MP1B, if it is known and differs.
"""

from collections.abc import Mapping

from smfparse.layout.kinds import Word

CONNECTION_TYPE: Mapping[int, Word] = {
    1: Word("CICS"),
    2: Word("Batch or TSO", "Batch"),
    3: Word("IMS control region"),
    4: Word("IMS MPP or BMP"),
    5: Word("Command server"),
    6: Word("Channel initiator"),
    7: Word("RRS batch"),
    8: Word("Intra-group queuing agent"),
}

OBJECT_TYPE: Mapping[int, Word] = {
    1: Word("Local queue", "QLocal"),
    2: Word("Model queue"),
    3: Word("Alias queue"),
    6: Word("Remote queue"),
    7: Word("Cluster queue"),
    8: Word("Topic (MQOT value, not a queue type)"),
    1001: Word("All"),
}

INDEX_TYPE: Mapping[int, Word] = {
    0: Word("None", "NONE"),
    1: Word("Message id"),
    2: Word("Correlation id"),
    4: Word("Message token"),
    5: Word("Group id"),
}

QSG_DISPOSITION: Mapping[int, Word] = {
    -1: Word("All"),
    0: Word("Queue manager"),
    1: Word("Copy"),
    2: Word("Shared"),
    3: Word("Group"),
    4: Word("Private"),
    6: Word("Live"),
}

PAGE_SET_STATUS: Mapping[int, Word] = {
    0: Word("Available"),
    1: Word("Defined (never used since restart)"),
    2: Word("Offline"),
    3: Word("Not defined"),
    4: Word("Suspended"),
}

PAGE_SET_EXPAND: Mapping[int, Word] = {
    1: Word("User"),
    2: Word("System"),
    3: Word("None"),
}

CHANNEL_TYPE: Mapping[int, Word] = {
    1: Word("Sender", "SENDER"),
    2: Word("Server", "SERVER"),
    3: Word("Receiver", "RECEIVER"),
    4: Word("Requester", "REQUESTER"),
    5: Word("All"),
    6: Word("Client-connection"),
    7: Word("Server-connection"),
    8: Word("Cluster-receiver"),
    9: Word("Cluster-sender"),
    10: Word("MQTT"),
    11: Word("AMQP"),
}

CHANNEL_STATUS: Mapping[int, Word] = {
    0: Word("Inactive"),
    1: Word("Binding"),
    2: Word("Starting"),
    3: Word("Running", "RUNNING"),
    4: Word("Stopping"),
    5: Word("Retrying"),
    6: Word("Stopped"),
    7: Word("Requesting"),
    8: Word("Paused"),
    9: Word("Disconnected"),
    13: Word("Initializing"),
    14: Word("Switching"),
}

CHANNEL_DISPOSITION: Mapping[int, Word] = {
    -1: Word("All"),
    1: Word("Default"),
    2: Word("Shared"),
    4: Word("Private", "PRIVATE"),
    5: Word("Fixed shared"),
}

MONITORING_LEVEL: Mapping[int, Word] = {
    -3: Word("Queue manager"),
    -1: Word("None"),
    0: Word("Off"),
    1: Word("On"),
    17: Word("Low"),
    33: Word("Medium"),
    65: Word("High", "HIGH"),
}

LATCH_CLASS: Mapping[int, Word] = {
    0: Word("None"),
    11: Word("DMCSEG: queue serialisation"),
    12: Word("buffer pool"),
    15: Word("CMXL1: first open / last close of a shared queue"),
    16: Word("BMXL2: page set"),
    19: Word("BMXL3: buffer page"),
    21: Word("RLMLWR: log buffer"),
    23: Word("BSDS"),
    24: Word("LMXL1: waiting getters"),
    25: Word("locks, accounting"),
    30: Word("ASMSAG: task switch, security"),
    31: Word("DPSLTC: scan of un-indexed queue, storage"),
    32: Word("SMCPHB: storage pools"),
}
