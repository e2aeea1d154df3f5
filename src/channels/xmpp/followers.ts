// People who want to see whether Keryx is online. Only people who may speak are accepted; other requests wait until they may.
import { Remembered } from "../remembered.ts";
import { NS } from "./stream/namespaces.ts";
import type { Session } from "./stream/session.ts";
import { element } from "./stream/xml.ts";

const MOST = 1000;

export class Followers {
	readonly #letIn = new Remembered(MOST);
	readonly #asking = new Set<string>();

	/** The server asks again at each login until it is answered. */
	asked(person: string, session: Session): void {
		if (this.#letIn.has(person)) allow(person, session);
		else if (this.#asking.size < MOST) this.#asking.add(person);
	}

	letIn(person: string, session: Session | null): void {
		this.#letIn.add(person);
		if (session && this.#asking.delete(person)) allow(person, session);
	}
}

function allow(person: string, session: Session): void {
	session.write(element("presence", NS.client, { to: person, type: "subscribed" }));
}
