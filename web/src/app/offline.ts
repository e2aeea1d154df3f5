// The page opens without Keryx, too, and then says that it is away. What it needs for that is kept by the service worker.
export function keepForOffline(): void {
	if (!import.meta.env.PROD || !("serviceWorker" in navigator)) return;
	// After the first view: it is for the next one. A browser that forbids it has a page that needs Keryx.
	const register = () => void navigator.serviceWorker.register("/sw.js").catch(() => undefined);
	if (document.readyState === "complete") register();
	else window.addEventListener("load", register, { once: true });
}
