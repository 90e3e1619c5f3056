"""CFSTAT: coupling facility requests, a group of 20 request types inside WTAS and WQST."""

from construct import Struct

from smfparse.layout.kinds import Count32

CF_REQUESTS = range(20)
CF_VERBS = ("open", "close", "get", "put", "put1")

CFSTAT = Struct(
    "cfcount" / Count32 * "CF requests of this type",
    "cfsyncn" / Count32 * "Requests completed synchronously",
    "cfsyncet" / Count32("microseconds (assumed)") * "Total synchronous elapsed time",
    "cfasyncn" / Count32 * "Requests completed asynchronously",
    "cfasyncet" / Count32("microseconds (assumed)") * "Total asynchronous elapsed time",
)
