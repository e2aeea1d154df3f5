// Another program that holds the database's write lock until its stdin ends. `lock-child.ts <path>`.
import "../support/keep-compiled.ts";
import Database from "better-sqlite3";

const db = new Database(process.argv[2] ?? "");
db.exec("BEGIN EXCLUSIVE");
console.log("locked");
process.stdin.resume().on("end", () => db.close());
