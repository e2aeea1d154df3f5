// SQL that removes every row of a store on PostgreSQL, so that each test starts with an empty one. Creating the tables again takes ten times
// as long. It is a function: the database keeps its plans as long as the connection lives.

/** Rows written by migrations stay or are restored. Without tables it does nothing. */
export function emptying(schema: string): string {
	const kept = `${schema}.settings`;
	return `DO $do$ DECLARE body text; BEGIN
		IF to_regclass('${kept}') IS NULL THEN RETURN; END IF;
		IF to_regproc('public.keryx_emptied') IS NULL THEN
			SELECT string_agg(format('IF EXISTS (SELECT FROM %1$I.%2$I) THEN DELETE FROM %1$I.%2$I; END IF;', schemaname, tablename), ' ')
				INTO body FROM pg_tables WHERE schemaname = '${schema}' AND tablename <> 'settings';
			body := body || ' DELETE FROM ${kept} WHERE name <> ''schema'';';
			body := body || ' INSERT INTO ${kept} (name, value) VALUES (''audit'', ''none'');';
			SELECT coalesce(body || string_agg(
					format(' PERFORM setval(%L, %s, false);', format('%I.%I', schemaname, sequencename), start_value), ''), body)
				INTO body FROM pg_sequences WHERE schemaname = '${schema}';
			-- In this role the database checks neither triggers nor references.
			EXECUTE format('CREATE FUNCTION public.keryx_emptied() RETURNS void LANGUAGE plpgsql
				SET session_replication_role = replica AS %L', 'BEGIN ' || body || ' END');
		END IF;
		PERFORM public.keryx_emptied();
	END $do$`;
}
