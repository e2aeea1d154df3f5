// The calls of the thread with the keys. All arguments and results are plain data.

export interface CryptoSettings {
	/** The file with keys, device and trust. */
	readonly file: string;
	/** The address of the library's module. */
	readonly library: string;
	readonly user: string;
	readonly device: string;
}

/** A request that the library wants sent to the server. */
export interface KeyRequest {
	readonly id: string;
	readonly type: number;
	readonly body: string;
	readonly eventType?: string;
	readonly transaction?: string;
	readonly room?: string;
}

export interface ShareSettings {
	readonly visibility: string;
	readonly rotationMs?: number;
	readonly rotationMessages?: number;
}

export interface SyncKeys {
	readonly toDevice: readonly unknown[];
	readonly changed: readonly string[];
	readonly left: readonly string[];
	readonly counts: Readonly<Record<string, number>>;
	readonly fallback?: readonly string[];
}

export interface CryptoCalls {
	/** Our device's public signing key. */
	fingerprint(): Promise<string>;
	receive(keys: SyncKeys): Promise<void>;
	outgoing(): Promise<readonly KeyRequest[]>;
	sent(request: Pick<KeyRequest, "id" | "type">, answer: string): Promise<void>;
	track(users: readonly string[]): Promise<void>;
	/** Devices without a channel to them; null: none. */
	missing(users: readonly string[]): Promise<KeyRequest | null>;
	share(room: string, users: readonly string[], settings: ShareSettings): Promise<readonly KeyRequest[]>;
	encrypt(room: string, type: string, content: string): Promise<string>;
	decrypt(room: string, event: string): Promise<{ readonly event: string } | { readonly reason: string }>;
	isEncrypted(room: string): Promise<boolean>;
	/** Whether Keryx has the keys that sign its device, and whether the server knows any. */
	crossSigning(): Promise<{
		readonly isOurs: boolean;
		readonly isKnown: boolean;
		readonly isSigned: boolean;
	}>;
	bootstrap(): Promise<{
		readonly keys: KeyRequest | null;
		readonly signing: string;
		readonly signatures: KeyRequest;
	}>;
	keep(room: string, event: string, body: string, now: number): Promise<void>;
	forget(room: string, event: string): Promise<void>;
	waiting(since: number): Promise<readonly { readonly room: string; readonly body: string }[]>;
}

export interface Call {
	readonly id: number;
	/** `close` ends the thread. */
	readonly method: keyof CryptoCalls | "close";
	readonly args: readonly unknown[];
}

export type Reply =
	| { readonly id: number; readonly value: unknown }
	| { readonly id: number; readonly problem: string };

export type Ready = { readonly ready: true } | { readonly problem: string; readonly isTaken: boolean };
