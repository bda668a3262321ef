/**
 * Name of a historian's folder, in a data directory and in an archive: its own, with dots at either end escaped, which
 * mean something to file systems. Another one would be a new format.
 */
export function historianFolder(name: string): string {
  return name.replace(/^\.+|\.+$/g, (dots) => '%2E'.repeat(dots.length))
}
