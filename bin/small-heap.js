import { performance } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The room for new objects, in which half is always free for those that are still alive. V8 begins with half of this. */
const newObjectBytes = 4 * 1024 * 1024;

/** So much of the old objects' room may lie unused between those that are alive. */
const mostGapBytes = 24 * 1024 * 1024;

/** Who has worked for more than so much of the time since the last collection has no time for that. */
const mostWork = 0.5;

/** Hears of each collection of the whole heap: what it registers is alive for nobody. */
const collections = new FinalizationRegistry((react) => react());

/**
 * So much of a function has to run, in bytes of its code, before V8 takes the time to look whether it is worth compiling it again, for speed.
 * Twelve times what Node 20's V8 has.
 */
const bytesBeforeLook = 800_000;

/**
 * To be called before the program is loaded.
 *
 * V8 lets the heap grow with the memory of the machine, to several times what is alive: the gateway is to stay small
 * also on a large one. The young part of the heap grows quickly and gets smaller only when nothing happens, so that it is kept small from the
 * beginning.
 *
 * A gateway does a little of everything for each message, and few messages come: what Node 20 spends on compiling for speed takes thousands
 * of them to come back. Later versions have a compiler for the time in between and do not know this flag.
 */
export function startLean() {
  setFlagsFromString("--semi-space-growth-factor=1");
  if (process.versions.v8.startsWith("11.")) setFlagsFromString(`--interrupt-budget=${bytesBeforeLook}`);
}

/**
 * The rest of the heap is looked at with each collection, and can be set while the program runs. It is when the program has started: what
 * it has loaded stays anyway, and collecting in between took a tenth of a start. The first collection is ours: a gateway that waits would not
 * come to one for a long time, and keep what its start has left.
 */
export function keepHeapSmall() {
  setFlagsFromString("--heap-growing-percent=75");
  // New objects have two megabytes: waking other threads for it takes longer than one thread takes to look through it.
  setFlagsFromString("--no-parallel-scavenge");
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  collect();
  keepRoom(collect);
}

/**
 * Twice the room that V8 begins with: half as many collections, and less lives until one comes. V8 goes back to what it began with when a
 * program has nothing to do, so that the room is made again after each collection of the whole heap.
 */
function keepRoom(collect, since = performance.eventLoopUtilization()) {
  for (let round = 0; round < 8 && spaceOf("new_space").space_size < newObjectBytes; round++) makeRoom(collect);
  const now = performance.eventLoopUtilization();
  closeGaps(performance.eventLoopUtilization(now, since).utilization);
  collections.register({}, () => keepRoom(collect, now));
}

/**
 * V8 moves old objects together only out of pages that are nearly empty, so that up to half of them lay unused under load. With this flag it does
 * so out of half-empty ones too. That takes time, and what is compiled for speed is thrown away with the shapes of objects that nobody has just
 * then: the next collection does it where much is unused and there is time.
 */
function closeGaps(work) {
  const { space_size: size, space_used_size: used } = spaceOf("old_space");
  const isWanted = size - used > mostGapBytes && work <= mostWork;
  setFlagsFromString(isWanted ? "--optimize-for-size" : "--no-optimize-for-size");
}

/** V8 makes more room when more is alive than there was room for. */
function makeRoom(collect) {
  setFlagsFromString("--semi-space-growth-factor=2");
  const alive = Array.from({ length: 40_000 }, (_, n) => ({ n }));
  collect({ type: "minor" });
  setFlagsFromString("--semi-space-growth-factor=1");
  return alive;
}

function spaceOf(name) {
  return getHeapSpaceStatistics().find((space) => space.space_name === name) ?? { space_size: 0, space_used_size: 0 };
}
