// Argument lists of a container engine, docker or podman. Pure. Each program runs in its own container, which sees its folder and nothing
// else of this machine. Nothing from a call is in the environment or options of the engine's client, which runs outside any wall.

export interface ContainerSettings {
	readonly engine: "docker" | "podman";
	readonly image: string;
	/** none: only its own loopback. on: the engine's usual network. */
	readonly network: "none" | "on";
	readonly memoryMb: number;
	readonly cpus: number;
	readonly processes: number;
}

export interface ContainerRun {
	readonly id: string;
	/** A label on each container of this Keryx. */
	readonly label: string;
	/** The user who runs Keryx: a program's files belong to them. */
	readonly user: { readonly uid: number; readonly gid: number };
	/** Read and written at the same path. */
	readonly folder: string;
	/** Contains the program's environment. */
	readonly envFile: string;
	readonly cwd: string;
	readonly terminal: boolean;
	readonly argv: readonly string[];
}

const ENV_PATH = "/.keryx-env";

export function containerName(id: string): string {
	return `keryx-${id}`;
}

export function runArguments(settings: ContainerSettings, run: ContainerRun): string[] {
	const { engine, image, network, memoryMb, cpus, processes } = settings;
	const { uid, gid } = run.user;
	return [
		"run",
		"--rm",
		// The operator fetches images, never a command.
		"--pull=never",
		`--name=${containerName(run.id)}`,
		`--label=keryx=${run.label}`,
		"--interactive",
		...(run.terminal ? ["--tty"] : []),
		...(network === "none" ? ["--network=none"] : []),
		"--cap-drop=ALL",
		"--security-opt=no-new-privileges",
		`--memory=${memoryMb}m`,
		`--cpus=${cpus}`,
		`--pids-limit=${processes}`,
		...(engine === "podman" && uid !== 0 ? ["--userns=keep-id"] : [`--user=${uid}:${gid}`]),
		`--mount=type=bind,source=${run.folder},target=${run.folder}`,
		`--mount=type=bind,source=${run.envFile},target=${ENV_PATH},readonly`,
		`--workdir=${run.cwd}`,
		"--entrypoint=/bin/sh",
		image,
		"-c",
		`. ${ENV_PATH} && exec "$@"`,
		"sh",
		...run.argv,
	];
}

/** The host's variables: the image has its own. */
const OF_THE_IMAGE: ReadonlySet<string> = new Set(["PATH", "HOME", "SHELL", "USER", "LOGNAME", "TMPDIR"]);
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** As a script for the shell in the container. */
export function envScript(env: Readonly<Record<string, string>>): string {
	return Object.entries(env)
		.filter(([name]) => NAME.test(name) && !OF_THE_IMAGE.has(name))
		.map(([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`)
		.join("");
}

const OF_THE_CLIENT = [
	...["PATH", "HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS"],
	...["DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"],
	...["CONTAINER_HOST", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF"],
];

/** The variables the client needs from Keryx's environment to find its engine. */
export function clientEnvironment(
	own: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
	return Object.fromEntries(
		OF_THE_CLIENT.flatMap((name) => (own[name] === undefined ? [] : [[name, own[name] as string]])),
	);
}
