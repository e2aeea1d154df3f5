// A gateway that is killed again and again while its platforms misbehave (I1, I3-I7). In `npm test` with 200 messages, in
// `npm run test:crash` with 10,000.
import { afterAll, test } from "vitest";
import { Workbench } from "./crash/support.ts";
import { torture } from "./torture/run.ts";

const MESSAGES = Number(process.env.KERYX_TORTURE_MESSAGES ?? 200);

const bench = new Workbench();
afterAll(() => bench.end());

test(
	`of ${MESSAGES} messages through kills, redeliveries, pauses and lost answers each has one end, and no answer is seen twice`,
	({ onTestFailed }) => torture({ bench, messages: MESSAGES, onTestFailed }),
	60_000 + MESSAGES * 300,
);
