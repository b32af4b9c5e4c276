//! What the catalogue of MariaDB and MySQL says of tables of the user's own.

use kit::key_columns::KeyColumn;

use super::{connection::MariaDbClient, dialect::literal};
use crate::server::{
    Answer, Catalog, Column, ColumnKind, Dialect, NewTable, ParameterizedQuery, Peer, ResultRow,
    SqlConnection, TableName,
};

fn quoted(name: &str) -> String {
    MariaDbClient::GRAMMAR.quoted(name)
}

/// Returns a text as a literal, also one of digits.
fn text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// Returns the condition for the rows of a table in a list of the catalogue.
fn of_table(name: &TableName) -> String {
    in_columns(name, "table_schema", "table_name")
}

/// Returns the condition for the rows of a list that have the table in these columns.
fn in_columns(TableName { schema, table }: &TableName, of_schema: &str, of_table: &str) -> String {
    let schema = schema.as_ref().map_or("DATABASE()".to_owned(), |schema| text(schema));
    format!("{of_schema} = {schema} AND {of_table} = {}", text(table))
}

impl Catalog for MariaDbClient {
    const COLUMNS: &'static str = "SELECT t.table_schema, t.table_name, 0, \
         t.table_type LIKE '%VIEW', COALESCE(t.table_rows, -1), c.column_name, c.data_type \
         FROM information_schema.tables t JOIN information_schema.columns c \
         ON c.table_schema = t.table_schema AND c.table_name = t.table_name \
         WHERE t.table_schema = DATABASE() ORDER BY 2, c.ordinal_position";
    const READ_ONLY: &'static [&'static str] =
        &["SET SESSION TRANSACTION READ ONLY", "SET SESSION max_sort_length=4096"];
    const PATHS: &'static str = "TEXT";
    const EMPTY: &'static str = "''";
    const OVERRIDING: &'static str = "";

    fn column_kind(declared: &str) -> Option<ColumnKind> {
        let word = declared.split(' ').next().unwrap_or_default().to_ascii_lowercase();
        Some(match &*word {
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" => ColumnKind::Integer,
            "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => {
                ColumnKind::Text
            }
            "uuid" => ColumnKind::Uuid,
            "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => {
                ColumnKind::Bytes
            }
            _ => return None,
        })
    }

    fn qualified(name: &TableName) -> String {
        let parts = name.schema.iter().chain([&name.table]).map(|part| quoted(part));
        parts.collect::<Vec<_>>().join(".")
    }

    /// Returns the query for columns. Texts are ordered as their bytes by a binary collation that does not
    /// pad them.
    fn columns_of(name: &TableName, _: &str) -> String {
        let table = of_table(name);
        format!(
            "SELECT column_name, CONCAT(data_type, IF(COALESCE(character_set_name, 'utf8') IN \
             ('utf8', 'utf8mb3', 'utf8mb4', 'ascii'), '', CONCAT(' in ', character_set_name))), \
             IF(collation_name IS NULL, \
             data_type IN ('binary', 'varbinary') OR data_type LIKE '%int', \
             collation_name LIKE '%nopad\\_bin' OR collation_name = 'utf8mb4_0900_bin'), \
             is_nullable = 'NO' AND column_default IS NULL AND extra NOT LIKE '%auto_increment%' \
             AND COALESCE(generation_expression, '') = '', is_nullable = 'NO', \
             COALESCE(generation_expression, '') <> '', COALESCE((SELECT seq_in_index \
             FROM information_schema.statistics s WHERE s.table_schema = c.table_schema \
             AND s.table_name = c.table_name AND s.index_name = 'PRIMARY' \
             AND s.column_name = c.column_name), 0) \
             FROM information_schema.columns c WHERE {table} ORDER BY ordinal_position"
        )
    }

    fn unique_of(name: &TableName, _: &str) -> String {
        let table = of_table(name);
        format!(
            "SELECT index_name, column_name FROM information_schema.statistics s WHERE {table} \
             AND non_unique = 0 AND NOT EXISTS (SELECT 1 FROM information_schema.statistics e \
             WHERE e.table_schema = s.table_schema AND e.table_name = s.table_name \
             AND e.index_name = s.index_name AND e.column_name IS NULL) \
             ORDER BY index_name, seq_in_index"
        )
    }

    fn not_in_copy(name: &TableName, _: &str) -> String {
        let table = of_table(name);
        let event = in_columns(name, "event_object_schema", "event_object_table");
        let parent = in_columns(name, "unique_constraint_schema", "referenced_table_name");
        format!(
            "SELECT CONCAT('trigger ', trigger_name) FROM information_schema.triggers WHERE {event} \
             UNION ALL SELECT CONCAT('foreign key ', constraint_name) \
             FROM information_schema.table_constraints WHERE {table} \
             AND constraint_type = 'FOREIGN KEY' \
             UNION ALL SELECT CONCAT('reference ', constraint_name) \
             FROM information_schema.referential_constraints WHERE {parent} \
             AND COALESCE(unique_constraint_name, '') <> 'PRIMARY' ORDER BY 1"
        )
    }

    fn value(_: &Column, quoted: &str) -> String {
        quoted.to_owned()
    }

    /// Returns the expression for the length of a value: a text is read in the connection's character set.
    fn length(column: &Column, quoted: &str) -> String {
        if column.kind == Some(ColumnKind::Text) && column.declared.contains(' ') {
            return format!("OCTET_LENGTH(CONVERT({quoted} USING utf8mb4))");
        }
        format!("OCTET_LENGTH({quoted})")
    }

    fn parameter_for(_: &Column, _: usize) -> String {
        "?".to_owned()
    }

    fn key_text(column: &Column, quoted: &str, is_alone: bool) -> String {
        match column.kind {
            Some(ColumnKind::Bytes) => format!("LOWER(HEX({quoted}))"),
            Some(ColumnKind::Integer | ColumnKind::Text) if is_alone => quoted.to_owned(),
            Some(ColumnKind::Text) => {
                format!("REPLACE(REPLACE({quoted}, '%', '%25'), '/', '%2F')")
            }
            _ => format!("CAST({quoted} AS CHAR)"),
        }
    }

    fn joined(texts: &[String]) -> String {
        format!("CONCAT({})", texts.join(", "))
    }

    fn integer(number: &str) -> String {
        format!("CAST({number} AS SIGNED)")
    }

    fn bytewise(text: &str) -> String {
        format!("CAST(CONVERT({text} USING utf8mb4) AS BINARY)")
    }

    fn file_number(quoted: &str) -> String {
        format!("LPAD({quoted}, GREATEST(6, LENGTH({quoted})), '0')")
    }

    fn give_back(_: &Column, table: &str, _: &str, _: &str) -> [Vec<String>; 2] {
        [Vec::new(), vec![format!("OPTIMIZE TABLE {table};")]]
    }

    /// Returns whether a plan reads a table from end to end because it has no index that may be used.
    fn looks_at_all(&mut self, query: &ParameterizedQuery<'_>) -> Answer<bool> {
        let sql = query(&|_| "'0'".to_owned());
        let plan = self.rows(&format!("EXPLAIN FORMAT=JSON {sql}"))?;
        let plan = plan.first().and_then(|row| row.text(0)).unwrap_or_default();
        let reads_all = ["ALL", "index"]
            .iter()
            .any(|word| plan.contains(&format!("\"access_type\": \"{word}\"")));
        Ok(reads_all && !plan.contains("\"possible_keys\""))
    }

    fn fixed_of(&mut self, name: &str, _: &str) -> Answer<Option<(&'static str, String)>> {
        self.fixed_setting(name).map(Some)
    }

    fn create_like(&mut self, copy: &str, original: &str, mark: &str) -> Answer<()> {
        self.lock_name(copy)?;
        self.run(&format!("CREATE TABLE {copy} LIKE {original}"))?;
        self.run(&format!("ALTER TABLE {copy} COMMENT={}", literal(mark))).map(drop)
    }

    fn create_new(&mut self, new: &NewTable<'_>) -> Answer<String> {
        // MySQL has no collation of the name that MariaDB has, and the reverse.
        let is_mariadb = self.variables()?.get("version").contains("MariaDB");
        let collation = if is_mariadb { "utf8mb4_nopad_bin" } else { "utf8mb4_0900_bin" };
        let length = 760 / new.key.len();
        let of = match new.key_column {
            KeyColumn::Integer => "BIGINT".to_owned(),
            KeyColumn::Text => {
                format!("VARCHAR({length}) CHARACTER SET utf8mb4 COLLATE {collation}")
            }
            KeyColumn::Blob => format!("VARBINARY({length})"),
        };
        let columns = new.key.iter().map(|name| format!("{name} {of} NOT NULL"));
        let (columns, key) = (columns.collect::<Vec<_>>().join(", "), new.key.join(", "));
        Ok(format!(
            "CREATE TABLE {} ({columns}, {} LONGBLOB NOT NULL, PRIMARY KEY({key})) ENGINE=InnoDB",
            new.name, new.value
        ))
    }

    fn rename(name: &str, becomes: &TableName) -> Vec<String> {
        let becomes = Self::qualified(becomes);
        vec![format!("ALTER TABLE {name} COMMENT='', RENAME TO {becomes}")]
    }
}
