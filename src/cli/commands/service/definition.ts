// The service definition: a systemd user unit, or a launchd agent.

export interface ServiceFacts {
	/** The program and its arguments. */
	readonly command: readonly string[];
	readonly home: string;
	/** Keys and tokens that the service needs, readable only by this user. */
	readonly environmentFile: string;
	/** Where programs are looked for: a service has a shorter PATH than a shell. */
	readonly path: string;
	/** How long answers under way may take to finish. */
	readonly drainSeconds: number;
	/** Whether the service manager can start Keryx in a cgroup below the delegated one: systemd 254 or newer. */
	readonly delegates: boolean;
}

/** Beyond the time that answers have. */
const SPARE_SECONDS = 30;

/**
 * KillMode=process: the agent's programs keep running, and the next start finds them. No file restrictions here: they would also apply to
 * the agent's programs, which have their own walls. Delegate: each program gets its own cgroup, next to Keryx's.
 */
export function systemdUnit({
	command,
	home,
	environmentFile,
	path,
	drainSeconds,
	delegates,
}: ServiceFacts): string {
	return `[Unit]
Description=Keryx, the session gateway for AI agents
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
ExecStart=${command.map(quoted).join(" ")}
Environment=${quoted(`KERYX_HOME=${home}`)} ${quoted(`PATH=${path}`)}
EnvironmentFile=-${escaped(environmentFile)}
Restart=on-failure
RestartSec=2
KillMode=process
TimeoutStopSec=${drainSeconds + SPARE_SECONDS}
${delegates ? "Delegate=memory pids\nDelegateSubgroup=keryx\n" : ""}UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
`;
}

/** $ and % are special in ExecStart and Environment. */
function quoted(text: string): string {
	return `"${escaped(text).replace(/["\\]/g, "\\$&").replaceAll("$", "$$$$")}"`;
}

function escaped(text: string): string {
	return text.replaceAll("%", "%%");
}

export const LAUNCHD_LABEL = "org.keryx.gateway";

/** launchd reads no environment file: a shell does, before it becomes Keryx. */
export function launchdAgent({ command, home, environmentFile, path, drainSeconds }: ServiceFacts): string {
	const start = 'set -a; [ -r "$0" ] && . "$0"; set +a; exec "$@"';
	const words = ["/bin/sh", "-c", start, environmentFile, ...command];
	return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key><string>${LAUNCHD_LABEL}</string>
	<key>ProgramArguments</key>
	<array>
${words.map((word) => `\t\t<string>${xml(word)}</string>`).join("\n")}
	</array>
	<key>EnvironmentVariables</key>
	<dict>
		<key>KERYX_HOME</key><string>${xml(home)}</string>
		<key>PATH</key><string>${xml(path)}</string>
	</dict>
	<key>RunAtLoad</key><true/>
	<key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
	<key>AbandonProcessGroup</key><true/>
	<key>ExitTimeOut</key><integer>${drainSeconds + SPARE_SECONDS}</integer>
	<key>Umask</key><integer>63</integer>
	<key>StandardOutPath</key><string>${xml(`${home}/service.log`)}</string>
	<key>StandardErrorPath</key><string>${xml(`${home}/service.log`)}</string>
</dict>
</plist>
`;
}

function xml(text: string): string {
	return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
