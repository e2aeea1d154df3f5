// The audit key of tests' stores. A separate file, because programs that tests start load nothing else of the tests.
export const AUDIT_KEY = new Uint8Array(32).fill(9);
