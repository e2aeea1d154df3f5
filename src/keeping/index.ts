// keryx/keeping: backups and restores of the store, retention with its archives, and Keryx's own log.
// A backup is one file with a checksum; a restore checks it before anything is replaced.
// Never here: SQL, what is asked of people, or when a person may do it.

export { listArchives, readArchive, restoreArchive } from "./archives.ts";
export { writeBackup } from "./backup-file.ts";
export { Backups, backupInterval } from "./backups.ts";
export { createGatewayLog, type GatewayLog, type LogLevel } from "./log.ts";
export { logEvents } from "./log-events.ts";
export { type Restored, restoreBackup } from "./restore.ts";
export { Retention } from "./retention.ts";
export { startTraces } from "./traces.ts";
