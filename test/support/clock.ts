export {
	countedIds,
	HOUR,
	MINUTE,
	NOON,
	type VirtualClock,
	virtualClock,
} from "../../src/testing/conformance/clock.ts";
