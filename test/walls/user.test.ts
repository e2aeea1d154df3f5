import { wallConformance } from "../conformance/walls.ts";
import { becomeOrdinary } from "./scene.ts";

becomeOrdinary();
wallConformance("as an ordinary user");
