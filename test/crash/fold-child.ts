// Another program of SQLite that folds the store's log into its database; with "commit" it writes something before and afterwards.
// `fold-child.ts <path> <mode> [commit]`.
import "../support/keep-compiled.ts";
import Database from "better-sqlite3";

const [path = "", mode = "", commit] = process.argv.slice(2);
const db = new Database(path);
const write = () => db.exec("INSERT OR REPLACE INTO settings (name, value) VALUES ('another', random())");
if (commit !== undefined) write();
console.log(JSON.stringify(db.pragma(`wal_checkpoint(${mode})`)));
if (commit !== undefined) write();
db.close();
