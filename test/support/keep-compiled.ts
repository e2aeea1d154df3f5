// Imported by programs that tests kill: Node writes its compile cache when a program ends, and these never end by themselves.
import { flushCompileCache } from "node:module";

flushCompileCache();
