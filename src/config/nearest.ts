// Suggests the name that was probably meant. For configuration keys and commands.

/** The candidate closest to `name`, or undefined when none is close enough to be worth suggesting. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
	const limit = Math.max(1, Math.floor(name.length / 3));
	let best: string | undefined;
	let bestDistance = limit + 1;
	for (const candidate of candidates) {
		// The difference in length is a lower bound, so a hopeless name needs no table.
		if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
		const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
		if (distance >= bestDistance) continue;
		best = candidate;
		bestDistance = distance;
	}
	return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
export function editDistance(a: string, b: string): number {
	let beforeLast: number[] = [];
	let last = Array.from({ length: b.length + 1 }, (_, column) => column);
	for (let row = 1; row <= a.length; row++) {
		const current = [row];
		for (let column = 1; column <= b.length; column++) {
			const same = a[row - 1] === b[column - 1];
			let cost = Math.min(
				at(last, column) + 1,
				at(current, column - 1) + 1,
				at(last, column - 1) + (same ? 0 : 1),
			);
			if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
				cost = Math.min(cost, at(beforeLast, column - 2) + 1);
			current.push(cost);
		}
		beforeLast = last;
		last = current;
	}
	return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
	return row[column] ?? Number.POSITIVE_INFINITY;
}
