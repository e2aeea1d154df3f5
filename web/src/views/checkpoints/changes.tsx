/** Counts of added and removed lines. */
export function Changes({
	insertions,
	deletions,
}: {
	readonly insertions: number;
	readonly deletions: number;
}) {
	return (
		<span className="whitespace-nowrap font-mono text-xs tabular-nums">
			<span className="text-ok">+{insertions.toLocaleString()}</span>{" "}
			<span className="text-danger">-{deletions.toLocaleString()}</span>
		</span>
	);
}
