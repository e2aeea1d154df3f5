// Telegram keeps the promises of every channel, over the wire and through a proxy that cuts it.
import { describe, test } from "vitest";
import { testChannel } from "../../src/testing/index.ts";
import { telegramPeer, telegramPeerByWebhook } from "./telegram-scene.ts";

testChannel("telegram", telegramPeer, { describe, test });
testChannel("telegram by webhook", telegramPeerByWebhook, { describe, test });
