// keryx/keeping: backups of the store, the way back, and what retention takes away.
// A backup is one file with a checksum; a restore checks it before anything is replaced.
// Never here: SQL, what is asked of people, or when a person may do it.

export { listArchives, readArchive, restoreArchive } from "./archives.ts";
export { writeBackup } from "./backup-file.ts";
export { Backups } from "./backups.ts";
export { type Restored, restoreBackup } from "./restore.ts";
export { Retention } from "./retention.ts";
