// What the database knows of a node that the others have given up.
import { expect } from "vitest";
import { onServer } from "../../support/postgres-store.ts";
import { nameOf } from "./nodes.ts";

/** Until the others have given a node up, for at least so many seconds by the database's clock. */
export async function givenUp(url: string, n: number, seconds = 0): Promise<void> {
	const since = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${seconds * 1000}`;
	await expect
		.poll(
			() =>
				onServer(
					url,
					`SELECT epoch FROM keryx.nodes WHERE name = '${nameOf(n)}' AND (ended_at IS NULL OR ended_at > ${since})`,
				),
			{ interval: 100 },
		)
		.toEqual([]);
}
