"""Calls every method of the SDK's HistorianMulti, and of its server, and compares what it gives with what was written.

Arguments: the service's URL, a write key. Nothing of the SDK is changed.
"""

import json
import sys
from datetime import datetime, timezone

from eigeningenuity import EigenException, EigenServer, disable_azure_auth, get_historian_multi, set_api_token
from eigeningenuity.historianmulti import createPoint

URL, KEY = sys.argv[1:]
set_api_token(KEY)

server = EigenServer(URL)
plant = get_historian_multi(server, "plant")
calc = get_historian_multi(URL, "calc")

TEN = datetime(2026, 1, 15, 10, tzinfo=timezone.utc)
TEN_MS = int(TEN.timestamp() * 1000)
MINUTE = 60_000
HOUR = 60 * MINUTE


def equal(found, expected, what):
    if found != expected:
        raise AssertionError(f"{what}: {found!r} instead of {expected!r}")
    print(f"ok {what}")


def stamp(minutes):
    return f"2026-01-15T{10 + minutes // 60:02}:{minutes % 60:02}:00.000Z"


def point(minutes, value, status="OK"):
    return {"timestamp": stamp(minutes), "value": value, "status": status}


# The server: the first look without a key, then the lists.
equal(server.auth, False, "EigenServer finds a server that needs no sign-in")
disable_azure_auth()
equal(server.listDataSources()["historians"][0]["name"], "manual", "listDataSources")
names = [each["name"] for each in server.listWritableDataSources()["historians"]]
equal(names, ["manual", "plant"], "listWritableDataSources")
equal(plant.listHistorians(False), ["manual", "plant"], "listHistorians")
equal(plant.listHistorians(True), ["manual", "plant"], "listHistorians, writable")
equal(server.getHistorianMulti(default_historian="plant").historian, "plant/", "getHistorianMulti")

# Tags and their metadata.
created = plant.createTag("FLOW", description="Feed flow", units="m3/h")
equal(created, {"success": True, "errors": {}}, "createTag")
again = plant.createTag("FLOW")
equal(again, {"success": False, "errors": {"plant/FLOW": "Tag plant/FLOW already exists"}}, "createTag, twice")
updated = plant.updateTag("PUMP", description="Pump runs", stepped=True, create_missing=True)
equal(updated["success"], True, "updateTag that creates")
missing = plant.updateTag("NONE")
equal(missing, {"success": False, "errors": {"plant/NONE": "Tag plant/NONE does not exist"}}, "updateTag, missing")

# Writes.
good = {"success": True, "message": "All points written!"}
equal(plant.writePoints("FLOW", [{"value": 10, "timestamp": TEN_MS}, createPoint(30, TEN_MS + 10 * MINUTE)]), good, "writePoints")
equal(plant.writePoints("FLOW", createPoint(99, TEN_MS + 20 * MINUTE, "BAD")), good, "writePoints, one BAD point")
batch = {"FLOW": [createPoint(50, TEN_MS + 30 * MINUTE)], "PUMP": [createPoint(1, TEN), createPoint(0, TEN_MS + 45 * MINUTE)]}
equal(plant.writePointsBatch([batch]), good, "writePointsBatch")
made = plant.createAndPopulateTag("LEVEL", [createPoint(7, TEN_MS)], units="m")
equal((made["success"], made["writePoints"]), (True, good), "createAndPopulateTag")
refused = get_historian_multi(server, "elsewhere").writePoints("T", createPoint(1, TEN_MS))
equal(refused["success"], False, "writePoints, refused")

# Reads.
equal(plant.getCurrentDataPoints("FLOW"), point(30, 50), "getCurrentDataPoints")
equal(
    plant.getCurrentDataPoints(["FLOW", "PUMP"]),
    {"FLOW": point(30, 50), "PUMP": point(45, 0)},
    "getCurrentDataPoints, two tags",
)
equal(calc.getCurrentDataPoints("ADD(1,2)")["value"], 3, "getCurrentDataPoints, calculation")
equal(list(plant.getCurrentDataPoints("FLOW", output="df").columns), ["FLOW"], "getCurrentDataPoints, data frame")
equal(plant.getInterpolatedPoints("FLOW", TEN_MS + 5 * MINUTE), [point(5, 20)], "getInterpolatedPoints")
equal(
    plant.getInterpolatedPoints(["FLOW", "PUMP"], [TEN, TEN_MS + 20 * MINUTE]),
    {"FLOW": [point(0, 10), point(20, 40)], "PUMP": [point(0, 1), point(20, 1)]},
    "getInterpolatedPoints, two tags and times",
)
equal(
    plant.getInterpolatedRange("FLOW", TEN, TEN_MS + 10 * MINUTE, count=3),
    [point(0, 10), point(5, 20), point(10, 30)],
    "getInterpolatedRange",
)
equal(
    plant.getRawDatapoints("FLOW", "2026-01-15T10:00:00Z", "2026-01-15T10:30:00Z"),
    [point(0, 10), point(10, 30), point(20, 99, "BAD")],
    "getRawDatapoints",
)
equal(plant.getRawDatapoints("FLOW", TEN, TEN_MS + HOUR, maxpoints=2), [point(0, 10), point(10, 30)], "getRawDatapoints, maxpoints")
equal(len(plant.getRawDatapoints("FLOW", "1 day ago", "now")), 0, "getRawDatapoints, relative times")
for side, minutes, value, status in [
    ("BEFORE", 0, 10, "OK"),
    ("BEFORE_OR_AT", 10, 30, "OK"),
    ("AFTER", 20, 99, "BAD"),
    ("AFTER_OR_AT", 10, 30, "OK"),
]:
    equal(plant.getClosestRawPoint("FLOW", TEN_MS + 10 * MINUTE, side), [point(minutes, value, status)], f"getClosestRawPoint {side}")

# Aggregates.
(window,) = plant.getAggregates("FLOW", TEN, TEN_MS + HOUR)
expected = {"min": 10, "max": 50, "avg": 30, "median": 30, "var": 400, "stdDev": 20, "first": 10, "last": 50}
expected |= {"count": 4, "numGood": 3, "numBad": 1}
equal({name: window[name] for name in expected}, expected, "getAggregates, all")
halves = plant.getAggregates("FLOW", TEN, TEN_MS + HOUR, intervals=2, aggregates=["MAX"])
equal([each["max"] for each in halves], [30, 50], "getAggregates, two windows")
frame = plant.getAggregates("FLOW", TEN, TEN_MS + HOUR, aggregates=["AVG"], output="df")
equal(list(frame["avg"]), [30], "getAggregates, data frame")
quarters = plant.getAggregateIntervals("FLOW", TEN, TEN_MS + HOUR, "15m", ["COUNT"])
equal([each["count"] for each in quarters], [2, 1, 1, 0], "getAggregateIntervals")
cut = plant.getAggregateIntervals("FLOW", TEN, TEN_MS + HOUR, "40m", ["COUNT"], final_interval_behavior="INCLUDE")
equal([each["count"] for each in cut], [4, 0], "getAggregateIntervals, with the last one")

# Search.
equal(plant.listDataTags(), ["FLOW", "LEVEL", "PUMP"], "listDataTags")
equal(plant.listDataTags(match="L*"), ["LEVEL"], "listDataTags, wildcard")
equal(plant.listDataTags(limit=1), ["FLOW"], "listDataTags, limit")
flow = plant.getMetaData(match="feed")["FLOW"]
equal((flow["description"], flow["units"], flow["stepped"]), ("Feed flow", "m3/h", False), "getMetaData")
equal(len(plant.getMetaData("plant/PUMP", output="raw")), 1, "getMetaData of one tag, raw")

# What goes wrong stays readable.
answer = plant.getCurrentDataPoints("NONE", output="raw")
equal(answer["errors"]["NONE"].startswith("Tag plant/NONE does not exist"), True, "an unknown tag is named")
equal(json.loads(plant.getCurrentDataPoints("FLOW", output="string"))["FLOW"]["dataPoint"], point(30, 50), "text output")
try:
    plant.getCurrentDataPoints("FLOW", output="invalid")
    raise AssertionError("an unknown output is refused")
except EigenException:
    print("ok an unknown output is refused")
