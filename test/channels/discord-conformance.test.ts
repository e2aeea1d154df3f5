// Discord keeps the promises of every channel, over the wire and through a proxy that cuts it.
import { describe, test } from "vitest";
import { testChannel } from "../../src/testing/index.ts";
import { discordPeer } from "./discord-scene.ts";

testChannel("discord", discordPeer, { describe, test });
