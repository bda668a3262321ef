import { execFileSync } from 'node:child_process'

/** Whether a database is there to be measured; '' and `columns` are this project. */
export function isInstalled(program: string): boolean {
  if (program === '' || program === 'columns') return true
  try {
    const found =
      program === 'initdb'
        ? 'ls /usr/lib/postgresql/*/bin/initdb'
        : `PATH=$PATH:/usr/sbin command -v ${program}`
    execFileSync('sh', ['-c', found], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
