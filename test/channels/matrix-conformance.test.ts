// Matrix keeps the promises of every channel, through a proxy that cuts the line.
import { describe, test } from "vitest";
import { testChannel } from "../../src/testing/index.ts";
import { matrixPeer } from "./matrix-scene.ts";

testChannel("matrix", matrixPeer, { describe, test });
