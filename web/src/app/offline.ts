// The page also opens while Keryx is not running, and says so. The service worker keeps the files it needs.
export function keepForOffline(): void {
	if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
	// After the first view, because the worker serves only the next one. Without it, the page needs Keryx.
	const register = () => void navigator.serviceWorker.register("/sw.js").catch(() => undefined);
	if (document.readyState === "complete") register();
	else window.addEventListener("load", register, { once: true });
}
