// Imported by programs that tests kill: Node keeps what it has compiled when a program ends, and these never come to that.
import { flushCompileCache } from "node:module";

flushCompileCache();
