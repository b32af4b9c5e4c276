//! What PostgreSQL's catalogue says of tables of the user's own.

use std::cell::Cell;

use kit::key_columns::KeyColumn;

use super::connection::PostgresClient;
use crate::server::{
    Answer, Catalog, Column, ColumnKind, Dialect, NewTable, ParameterizedQuery, ResultRow,
    SqlConnection, TableName,
};

/// Returns a text as a literal.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn quoted(name: &str) -> String {
    PostgresClient::GRAMMAR.quoted(name)
}

impl Catalog for PostgresClient {
    const COLUMNS: &'static str = "SELECT n.nspname::text, c.relname::text, \
         (NOT pg_table_is_visible(c.oid))::int::bigint, (c.relkind IN ('v','m'))::int::bigint, \
         c.reltuples::bigint, a.attname::text, coalesce(b.typname, t.typname)::text \
         FROM pg_class c JOIN pg_namespace n ON n.oid=c.relnamespace \
         JOIN pg_attribute a ON a.attrelid=c.oid JOIN pg_type t ON t.oid=a.atttypid \
         LEFT JOIN pg_type b ON t.typtype='d' AND b.oid=t.typbasetype \
         WHERE c.relkind IN ('r','p','v','m','f') AND NOT c.relispartition AND a.attnum>0 \
         AND NOT a.attisdropped AND n.nspname NOT IN ('pg_catalog','information_schema') \
         AND n.nspname NOT LIKE 'pg\\_t%' AND has_schema_privilege(n.oid,'USAGE') \
         AND has_any_column_privilege(c.oid,'SELECT') ORDER BY 1, 2, a.attnum";
    const READ_ONLY: &'static [&'static str] =
        &["SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"];
    const PATHS: &'static str = "text";
    const EMPTY: &'static str = "''";
    const OVERRIDING: &'static str = "OVERRIDING SYSTEM VALUE ";

    fn column_kind(declared: &str) -> Option<ColumnKind> {
        Some(match declared {
            "int2" | "int4" | "int8" => ColumnKind::Integer,
            "text" | "varchar" | "bpchar" | "citext" | "json" | "xml" => ColumnKind::Text,
            "uuid" => ColumnKind::Uuid,
            "bytea" => ColumnKind::Bytes,
            "oid" => ColumnKind::LargeObject,
            _ => return None,
        })
    }

    fn qualified(name: &TableName) -> String {
        let parts = name.schema.iter().chain([&name.table]).map(|part| quoted(part));
        parts.collect::<Vec<_>>().join(".")
    }

    /// Returns the query for columns. Texts are ordered as their bytes by the collation `C`; by another one
    /// that is the database's default only if that is `C`.
    fn columns_of(_: &TableName, name: &str) -> String {
        let table = literal(name);
        format!(
            "SELECT a.attname::text, coalesce(b.typname, t.typname)::text, \
             (coalesce(b.typname, t.typname)<>'bpchar' AND (a.attcollation=0 OR (SELECT CASE \
             WHEN co.collname<>'default' THEN co.collname IN ('C','POSIX','ucs_basic') ELSE \
             (SELECT CASE coalesce(to_jsonb(d)->>'datlocprovider','c') WHEN 'b' THEN true \
             WHEN 'c' THEN d.datcollate IN ('C','POSIX') ELSE false END FROM pg_database d \
             WHERE d.datname=current_database()) END FROM pg_collation co \
             WHERE co.oid=a.attcollation)))::int::bigint, \
             (a.attnotnull AND NOT a.atthasdef AND a.attidentity='')::int::bigint, \
             a.attnotnull::int::bigint, (a.attgenerated<>'')::int::bigint, \
             coalesce(array_position(i.indkey::int2[], a.attnum), -1)::bigint+1 \
             FROM pg_attribute a JOIN pg_type t ON t.oid=a.atttypid \
             LEFT JOIN pg_type b ON t.typtype='d' AND b.oid=t.typbasetype \
             LEFT JOIN pg_index i ON i.indrelid=a.attrelid AND i.indisprimary \
             WHERE a.attrelid={table}::regclass AND a.attnum>0 AND NOT a.attisdropped \
             ORDER BY a.attnum"
        )
    }

    fn unique_of(_: &TableName, name: &str) -> String {
        let table = literal(name);
        format!(
            "SELECT i.indexrelid::bigint::text, a.attname::text FROM pg_index i, \
             unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place), pg_attribute a \
             WHERE i.indrelid={table}::regclass AND i.indisunique AND i.indisvalid \
             AND i.indpred IS NULL AND i.indexprs IS NULL AND k.place<=i.indnkeyatts \
             AND a.attrelid=i.indrelid AND a.attnum=k.attnum ORDER BY i.indexrelid, k.place"
        )
    }

    fn not_in_copy(_: &TableName, name: &str) -> String {
        let table = literal(name);
        format!(
            "SELECT 'trigger '||tgname FROM pg_trigger \
             WHERE tgrelid={table}::regclass AND NOT tgisinternal \
             UNION ALL SELECT 'foreign key '||conname FROM pg_constraint \
             WHERE conrelid={table}::regclass AND contype='f' \
             UNION ALL SELECT 'reference '||c.conname FROM pg_constraint c \
             WHERE c.confrelid={table}::regclass AND c.contype='f' \
             AND NOT EXISTS (SELECT 1 FROM pg_constraint p WHERE p.conrelid=c.confrelid \
             AND p.contype='p' AND p.conkey @> c.confkey) \
             UNION ALL SELECT 'rule '||rulename FROM pg_rewrite \
             WHERE ev_class={table}::regclass AND ev_type<>'1' ORDER BY 1"
        )
    }

    fn value(column: &Column, quoted: &str) -> String {
        if column.kind == Some(ColumnKind::LargeObject) {
            return format!("lo_get({quoted})");
        }
        quoted.to_owned()
    }

    fn length(column: &Column, quoted: &str) -> String {
        match &*column.declared {
            "json" | "xml" | "citext" => format!("octet_length({quoted}::text)"),
            _ => format!("octet_length({})", Self::value(column, quoted)),
        }
    }

    fn parameter_for(column: &Column, n: usize) -> String {
        match (column.kind, &*column.declared) {
            (Some(ColumnKind::Integer), _) => format!("${n}::bigint"),
            (_, declared @ ("uuid" | "json" | "xml")) => format!("${n}::text::{declared}"),
            _ => format!("${n}"),
        }
    }

    fn key_text(column: &Column, quoted: &str, is_alone: bool) -> String {
        match column.kind {
            Some(ColumnKind::Integer) if is_alone => format!("{quoted}::bigint"),
            Some(ColumnKind::Bytes) => format!("encode({quoted}, 'hex')"),
            Some(ColumnKind::Text) if !is_alone => {
                format!("replace(replace({quoted}::text, '%', '%25'), '/', '%2F')")
            }
            _ => format!("{quoted}::text"),
        }
    }

    fn joined(texts: &[String]) -> String {
        texts.join("||")
    }

    fn integer(number: &str) -> String {
        format!("({number})::bigint")
    }

    fn bytewise(text: &str) -> String {
        format!("({text}) COLLATE \"C\"")
    }

    fn file_number(quoted: &str) -> String {
        format!("lpad({quoted}::text, greatest(6, length({quoted}::text)), '0')")
    }

    fn give_back(column: &Column, table: &str, value: &str, rows: &str) -> [Vec<String>; 2] {
        let vacuum = format!("VACUUM FULL {table};");
        if column.kind != Some(ColumnKind::LargeObject) {
            return [Vec::new(), vec![vacuum]];
        }
        let unlink = format!("SELECT count(lo_unlink({value})) FROM {table}{rows};");
        [vec![unlink], vec![vacuum, "VACUUM pg_largeobject;".to_owned()]]
    }

    /// Returns whether a plan for any key, without the choice to read a whole table, reads a table or an
    /// index from end to end.
    fn looks_at_all(&mut self, query: &ParameterizedQuery<'_>) -> Answer<bool> {
        let most = Cell::new(0);
        let sql = query(&|n| {
            most.set(most.get().max(n));
            format!("${n}")
        });
        let keys = vec!["NULL"; most.get()].join(", ");
        self.run_all([
            "SET plan_cache_mode=force_generic_plan",
            "SET enable_seqscan=off",
            &format!("PREPARE storemark_plan AS {sql}"),
        ])?;
        let plan = self.rows(&format!("EXPLAIN EXECUTE storemark_plan({keys})"));
        self.run_all([
            "DEALLOCATE storemark_plan",
            "RESET plan_cache_mode",
            "RESET enable_seqscan",
        ])?;
        let plan = plan?;
        let lines = || plan.iter().filter_map(|row| row.text(0));
        let count = |words: &[&str]| {
            lines().filter(|line| words.iter().any(|word| line.contains(word))).count()
        };
        let by_index = ["Index Scan using", "Index Only Scan using", "Bitmap Index Scan on"];
        Ok(count(&["Seq Scan"]) > 0 || count(&by_index) > count(&["Index Cond:"]))
    }

    fn fixed_of(&mut self, name: &str, value: &str) -> Answer<Option<(&'static str, String)>> {
        self.storage(name, value).map(Some)
    }

    /// Creates a copy with sequences of its own: the defaults of a table made `LIKE` another one would take
    /// numbers from the user's sequences.
    fn create_like(&mut self, copy: &str, original: &str, mark: &str) -> Answer<()> {
        let numbered = self.rows(&format!(
            "SELECT a.attname::text FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid=d.adrelid \
             AND a.attnum=d.adnum WHERE d.adrelid={}::regclass AND a.attgenerated='' \
             AND pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%'",
            literal(original)
        ))?;
        let mut create = format!("CREATE TABLE {copy} (LIKE {original} INCLUDING ALL)");
        let columns = numbered.iter().filter_map(|row| row.text(0)).map(quoted);
        for (n, column) in columns.enumerate() {
            let name = copy.trim_matches('"');
            let sequence = quoted(&format!("{name}_{n}"));
            let of = literal(&sequence);
            let own = format!(
                "; CREATE SEQUENCE {sequence} OWNED BY {copy}.{column}; \
                 ALTER TABLE {copy} ALTER {column} SET DEFAULT nextval({of}); \
                 SELECT setval({of}, (SELECT coalesce(max({column}), 0)+1 FROM {original}))"
            );
            create += &own;
        }
        self.create_marked(&create, copy, mark)
    }

    fn create_new(&mut self, new: &NewTable<'_>) -> Answer<String> {
        let of = match new.key_column {
            KeyColumn::Integer => "bigint",
            KeyColumn::Text => "text COLLATE \"C\"",
            KeyColumn::Blob => "bytea",
        };
        let columns = new.key.iter().map(|name| format!("{name} {of}"));
        let (columns, key) = (columns.collect::<Vec<_>>().join(", "), new.key.join(", "));
        let constraint = quoted(&format!("{}_pkey", new.becomes.table));
        Ok(format!(
            "CREATE TABLE {}({columns}, {} bytea NOT NULL, CONSTRAINT {constraint} PRIMARY KEY({key}))",
            new.name, new.value
        ))
    }

    fn rename(name: &str, becomes: &TableName) -> Vec<String> {
        let table = quoted(&becomes.table);
        let full = Self::qualified(becomes);
        let schema = becomes.schema.as_ref().map(|schema| quoted(schema));
        let moved = schema.map_or_else(String::new, |schema| {
            format!("; ALTER TABLE {table} SET SCHEMA {schema}")
        });
        // One transaction.
        vec![format!(
            "ALTER TABLE {name} RENAME TO {table}{moved}; COMMENT ON TABLE {full} IS NULL"
        )]
    }
}
