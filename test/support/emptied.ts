// SQL that removes every row of a store on PostgreSQL, so that each test starts with an empty one. Creating the tables again takes ten times
// as long. It is a function: the database keeps its plans as long as the connection lives.

/** Rows of the node that has the store open, and the settings it joined with. */
const OF_THE_NODE = { tables: ["nodes", "writers"], settings: ["epoch", "telling_key"] };

/**
 * Rows written by migrations stay or are restored. Without tables it does nothing. `open`: the store stays open meanwhile, and its node
 * stays what it is.
 */
export function emptying(schema: string, { open = false }: { readonly open?: boolean } = {}): string {
	const kept = `${schema}.settings`;
	const name = open ? "keryx_emptied_open" : "keryx_emptied";
	const quoted = (names: readonly string[]) => names.map((text) => `'${text}'`).join(", ");
	const tables = quoted(["settings", ...(open ? OF_THE_NODE.tables : [])]);
	const settings = quoted(["schema", ...(open ? OF_THE_NODE.settings : [])]).replaceAll("'", "''");
	return `DO $do$ DECLARE body text; BEGIN
		IF to_regclass('${kept}') IS NULL THEN RETURN; END IF;
		IF to_regproc('public.${name}') IS NULL THEN
			SELECT string_agg(format('IF EXISTS (SELECT FROM %1$I.%2$I) THEN DELETE FROM %1$I.%2$I; END IF;', schemaname, tablename), ' ')
				INTO body FROM pg_tables WHERE schemaname = '${schema}' AND tablename NOT IN (${tables});
			body := body || ' DELETE FROM ${kept} WHERE name NOT IN (${settings});';
			body := body || ' INSERT INTO ${kept} (name, value) VALUES (''audit'', ''none'');';
			SELECT coalesce(body || string_agg(
					format(' PERFORM setval(%L, %s, false);', format('%I.%I', schemaname, sequencename), start_value), ''), body)
				INTO body FROM pg_sequences WHERE schemaname = '${schema}';
			-- In this role the database checks neither triggers nor references.
			EXECUTE format('CREATE FUNCTION public.${name}() RETURNS void LANGUAGE plpgsql
				SET session_replication_role = replica AS %L', 'BEGIN ' || body || ' END');
		END IF;
		PERFORM public.${name}();
	END $do$`;
}
