// The virtual clock, counted ids and time constants of the conformance suites, for other tests.
export {
	countedIds,
	HOUR,
	MINUTE,
	NOON,
	type VirtualClock,
	virtualClock,
} from "../../src/testing/conformance/clock.ts";
