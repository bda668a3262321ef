/**
 * How glibc's malloc is set for a worker: two arenas instead of eight a processor, and buffers of 256 kB and more
 * always come from the system, to which they return at once. By itself malloc raises that to as much as 32 MB, and
 * buffers that were freed leave holes between those in use: a worker with a million tags had some 70 MB of them. It can
 * only be said before a process starts; other libraries of C do not read it.
 */
const SETTINGS = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '262144' }

/** Variables for the environment of a worker; those that were set by somebody else stay as they are. */
export function mallocSettings(): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(SETTINGS).filter(([name]) => process.env[name] === undefined))
}
