// Slack keeps the promises of every channel, over the wire and through a proxy that cuts it.
import { describe, test } from "vitest";
import { testChannel } from "../../src/testing/index.ts";
import { slackPeer, slackPeerOverHttp } from "./slack-scene.ts";

testChannel("slack", slackPeer, { describe, test });
testChannel("slack over HTTP", slackPeerOverHttp, { describe, test });
