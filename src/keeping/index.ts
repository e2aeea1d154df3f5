// keryx/keeping: backups of the store, the way back, and what retention takes away.
// A backup is one file with a checksum; a restore checks it before anything is replaced.
// Never here: SQL, what is asked of people, or when a person may do it.

export { findArchive, listArchives, readArchive, restoreArchive } from "./archives.ts";
export { type BackupContents, type OpenedBackup, openBackup, writeBackup } from "./backup-file.ts";
export { BACKUP_NAME, type BackupMade, Backups, type BackupsOptions } from "./backups.ts";
export { type Restored, restoreBackup } from "./restore.ts";
export { Retention, type RetentionOptions } from "./retention.ts";
