// A value outside of React that components can subscribe to.
import { useSyncExternalStore } from "react";

export interface Value<Type> {
	readonly get: () => Type;
	readonly set: (value: Type) => void;
	readonly use: () => Type;
}

export function createValue<Type>(first: Type): Value<Type> {
	let value = first;
	const listeners = new Set<() => void>();
	const get = () => value;
	const subscribe = (listener: () => void) => {
		listeners.add(listener);
		return () => void listeners.delete(listener);
	};
	return {
		get,
		set: (next) => {
			if (Object.is(value, next)) return;
			value = next;
			for (const listener of listeners) listener();
		},
		use: () => useSyncExternalStore(subscribe, get),
	};
}
