// keryx/testing: tools for testing a gateway, a channel, an agent or a tool.
// The conformance suites define the promises of every store, channel, agent and process backend.
// Never here: anything that a running Keryx loads.

export {
	createScriptedAgent,
	createScriptedLoopAgent,
	parseScript,
	type Script,
	type ScriptedStep,
} from "../agents/index.ts";
export {
	type ChannelPeer,
	PAUSE_MS,
	type SeenMessage,
	type TestRunner,
	testChannel,
} from "./channel-conformance.ts";
export {
	type ClusterNode,
	type ClusterOptions,
	createCluster,
	type NodeSetup,
	type TestCluster,
} from "./cluster.ts";
export type { AgentUnderTest, Ask } from "./conformance/agent.ts";
export {
	countedIds,
	createWallClock,
	type WallClock,
} from "./conformance/clock.ts";
export type { BackendUnderTest } from "./conformance/process-backend.ts";
export type { ConformanceOptions, Open, Opened } from "./conformance/store.ts";
export { createFaultProxy, type FaultProxy, type LinkState } from "./fault-proxy.ts";
export {
	type Fault,
	type FaultingEngine,
	type FaultPoint,
	faultingEngine,
	SLOW_MS,
} from "./faulting-engine.ts";
export { type KillPoint, killingEngine } from "./killing-engine.ts";
export {
	type Attempt,
	type AttemptRecord,
	type Behaviour,
	type PlatformOptions,
	type Saying,
	ScriptedPlatform,
	type Update,
	type VisibleMessage,
} from "./platform.ts";
export { createPlatformServer, type PlatformServer } from "./platform-server.ts";
export {
	type ChannelAbilities,
	createScriptedChannel,
	type ScriptedChannel,
	type ScriptedChannelOptions,
} from "./scripted-channel.ts";
export { type ConnectOptions, connectScriptedChannel } from "./socket-link.ts";
export { testAgent, testProcessBackend, testStore } from "./suites.ts";
export { TakingHost } from "./taking-host.ts";
export { type TrackedEngine, trackedEngine } from "./tracked-engine.ts";
export { createVirtualClock, type VirtualClock, type VirtualClockOptions } from "./virtual-clock.ts";
