// The key of the audit in tests' stores. In a file of its own: programs that tests start need it, and not what else tests load.
export const AUDIT_KEY = new Uint8Array(32).fill(9);
