import AppStoreModels
import Migration
import TestSupport
import Testing

@Suite("SQL dumps with INSERT")
struct InsertDumpTests {
    private let a = Made.receipt(1)
    private let b = Made.receipt(2)

    private func hex(_ bytes: [UInt8]) -> String { Printable.hex(bytes) }

    private var mysqldump: String {
        """
        -- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
        /*!50503 SET NAMES utf8mb4 */;

        DROP TABLE IF EXISTS `users`;
        CREATE TABLE `users` (
          `id` int NOT NULL AUTO_INCREMENT,
          `name` varchar(64) DEFAULT 'a,b' COMMENT 'it''s (not) \\'one\\'',
          PRIMARY KEY (`id`),
          KEY `by_name` (`name`(10))
        ) ENGINE=InnoDB;
        LOCK TABLES `users` WRITE;
        /*!40000 ALTER TABLE `users` DISABLE KEYS */;
        INSERT INTO `users` VALUES (1,'Ann'),(2,'O\\'Neil, (Bob)');
        UNLOCK TABLES;
        CREATE TABLE `receipts` (
          `id` int NOT NULL,
          `user id` varchar(64) DEFAULT NULL,
          `receipt` longtext,
          `price` decimal(10,2) DEFAULT '0.00',
          UNIQUE KEY `id` (`id`)
        ) ENGINE=InnoDB;
        INSERT INTO `receipts` VALUES (1,'O\\'Neil, (Bob)','\(a)',1.5),(2,NULL,'\(b)',-2);
        INSERT INTO `receipts` VALUES (3,'',NULL,0.00);
        CREATE TABLE `log` (
          `at` date,
          `line` text
        );
        INSERT INTO `log` VALUES ('2024-01-01','nothing'),('2024-01-02','\(a)');
        UPDATE `old` SET `line` = '\(b)';

        """
    }

    @Test("mysqldump: the rows of tables with receipts, named by CREATE TABLE, and no document of the others is lost")
    func tables() {
        let reading = Reading(mysqldump, name: "dump.sql")
        #expect(reading.errors.isEmpty)
        #expect(reading.kinds == ["receipt", "receipt", "empty", "receipt", "unknownForm"])
        #expect(reading.receipts == [a, b, "-", a, "-"])
        #expect(
            reading.places == [
                "dump.sql, row 23", "dump.sql, row 24", "dump.sql, row 25", "dump.sql, row 31", "dump.sql, line 32",
            ])
        #expect(reading.records[0].carried("user id") == .text("O'Neil, (Bob)"))
        #expect(reading.records[0].carried("price") == .text("1.5"))
        #expect(reading.records[1].carried("user id") == .json("null"))
        #expect(reading.records[2].carried("user id") == .text(""))
        #expect(reading.records[3].carried("at") == .text("2024-01-02"))
        #expect(reading.originals[1] == "(2,NULL,'\(b)',-2)")
        let bytes = Array(mysqldump.utf8)
        for record in reading.records {
            let start = record.place.byteOffset
            #expect(Array(bytes[start..<(start + record.length)]) == Array(record.original))
        }
        #expect(reading.statistics.blankLines == 1)
        #expect(reading.statistics.rowsOfOtherTables == 3)
    }

    @Test("With a named column, only the tables that have it are read; a column that none has stops at once")
    func columns() {
        let line = Reading(mysqldump, options: InputOptions(receiptColumns: ["line"]))
        #expect(line.receipts == ["-", a] && line.statistics.rowsOfOtherTables == 5)
        let wrong = Reading(mysqldump, options: InputOptions(receiptColumns: ["reciept"]))
        #expect(wrong.records.isEmpty && wrong.errors.first?.code == .columnNotFound)
        #expect(wrong.errors.first?.message.contains("id, user id, receipt, price") == true)
        let user = Reading(mysqldump, options: InputOptions(otherColumns: ["user"]))
        #expect(user.errors.first?.code == .columnNotFound)
        #expect(Reading(mysqldump, options: InputOptions(otherColumns: ["user id"])).records.count == 5)
    }

    @Test("Of several named columns, a dump needs only one")
    func severalColumns() {
        let dumps = [("old", a), ("new", b), ("body", a)].map { column, receipt in
            let table = "CREATE TABLE `r` (`user_id` text,`\(column)` longtext);\n"
            let text = table + "INSERT INTO `r` VALUES ('u1','\(receipt)');\n"
            return InputArgument.bytes(Array(text.utf8), name: "\(column).sql")
        }
        let options = InputOptions(receiptColumns: ["old", "new"])
        let reading = Reading(Array(dumps.prefix(2)), options: options)
        #expect(reading.errors.isEmpty && reading.receipts == [a, b])
        let wrong = Reading(Array(dumps.suffix(1)), options: options)
        #expect(wrong.errors.first?.message.contains("has no column old and no column new") == true)
    }

    @Test("A column that no table of a long dump has stops at its end; in a folder, one dump with it is enough")
    func columnOfLongDump() {
        let padding = "-- " + String(repeating: "x", count: InputLimits.detectionWindow) + "\n"
        func read(_ texts: [String], column: String) -> Reading {
            let inputs = texts.enumerated().map { InputArgument.bytes(Array($1.utf8), name: "\($0).sql") }
            return Reading(inputs, options: InputOptions(receiptColumns: [column]))
        }
        for text in [mysqldump + padding, "-- MySQL dump\n" + padding + mysqldump] {
            let wrong = read([text], column: "reciept")
            #expect(wrong.records.isEmpty && wrong.errors.map(\.code) == [.columnNotFound])
            #expect(wrong.errors.first?.message.contains("id, user id, receipt, price") == true)
            #expect(read([text], column: "line").errors.isEmpty)
        }
        let users = "CREATE TABLE `users` (`id` int);\nINSERT INTO `users` VALUES (1);\n"
        let folder = read([users, mysqldump + padding], column: "line")
        #expect(folder.errors.isEmpty && folder.receipts == ["-", a])
        // A table without rows.
        #expect(read(["CREATE TABLE `r` (`line` text);\n" + padding], column: "line").errors.isEmpty)
        let unnamed = read(["INSERT INTO `r` VALUES ('u1','\(a)');\n"], column: "2")
        #expect(unnamed.records.isEmpty && unnamed.errors.first?.message.contains("column 1, column 2") == true)
    }

    @Test("A row with more values than any table has columns numbers no columns")
    func manyValues() {
        func kinds(_ count: Int) -> [String] {
            let values = String(repeating: "1,", count: count)
            return Reading("INSERT INTO `r` VALUES (\(values)'\(a)');\n").kinds
        }
        #expect(kinds(1_000) == ["receipt"])
        #expect(kinds(InputLimits.columnsOfTable) == ["unknownForm"])
    }

    @Test("The forms of the statement: one row each, with the names of the columns, in any layout")
    func forms() {
        let rows = ["('u1','\(a)')", "('u2','\(b)')"]
        for text in [
            rows.map { "INSERT INTO `r` (`user_id`,`receipt`) VALUES \($0);\n" }.joined(),
            "CREATE TABLE `r` (`user_id` text, `receipt` text);\n"
                + rows.map { "INSERT INTO `r` VALUES \($0);" }.joined(),
            "INSERT  IGNORE INTO `shop`.`r` (`user_id`,`receipt`) VALUES \(rows[0]),\(rows[1]);\n",
            "REPLACE INTO r (user_id, receipt) VALUES\n\t\(rows[0]),\n\t\(rows[1])\nON DUPLICATE KEY UPDATE a = 'x';\n",
            "-- by hand\n\ninsert into r (user_id, receipt) values \(rows[0]) , \(rows[1])",
            "SET NAMES utf8;\r\nINSERT INTO `r` (`user_id`,`receipt`) VALUES\r\n\(rows[0]),\r\n\(rows[1]);\r\n",
            "INSERT INTO `r`(`user_id`,`receipt`) VALUES(\"u1\",\"\(a)\")\n,(\"u2\",\"\(b)\");\n",
        ] {
            let reading = Reading(text)
            #expect(reading.receipts == [a, b], "\(text.prefix(60))")
            #expect(reading.records.map { $0.carried("user_id") } == [.text("u1"), .text("u2")])
        }
        // Nothing names the columns.
        for columns in [[], ["column 2"]] {
            let reading = Reading(
                "INSERT INTO `r` VALUES \(rows[0]),\(rows[1]);\n", options: InputOptions(receiptColumns: columns))
            #expect(reading.receipts == [a, b])
            #expect(reading.records.map { $0.carried("column 1") } == [.text("u1"), .text("u2")])
        }
    }

    @Test("The columns of an INSERT are those of a file before it in its folder, as mydumper writes them")
    func schemaInAnotherFile() throws {
        let schema = "/*!40101 SET NAMES binary*/;\nCREATE TABLE `r` (\n  `user_id` text,\n  `receipt` longtext\n);\n"
        let rows = "/*!40101 SET NAMES binary*/;\nINSERT INTO `r` VALUES\n('u1','\(a)'),\n('u2',NULL);\n"
        let folder = try TemporaryFolder()
        let files = [try folder.write("shop.r-schema.sql", schema), try folder.write("shop.r.00000.sql", rows)]
        for columns in [[], ["receipt"]] {
            let reading = Reading([.path(folder.path)], options: InputOptions(receiptColumns: columns))
            #expect(reading.errors.isEmpty && reading.receipts == [a, "-"])
            #expect(reading.records.map { $0.carried("user_id") } == [.text("u1"), .text("u2")])
        }
        // Other inputs may be of another database.
        #expect(Reading(files.map { InputArgument.path($0) }).records.map { $0.carried("column 1") } == [.text("u1")])
    }

    @Test("In tables about which nothing is known, iOS 6 receipts, rows of replies and StoreKit 2 JSON are seen")
    func unknownTables() {
        let plist = Array(Made.propertyList.utf8)
        var documents: [String] = [
            "x'\(hex(plist))'", "0x\(hex(plist).uppercased())", "'\(Made.propertyList)'", "'\(Made.plistReceipt)'",
            #"'{"receipt":{"product_id":"p","original_transaction_id":"1000000000000001"},"status":0}'"#,
            #"'{\"notification_type\":\"CANCEL\",\"latest_expired_receipt_info\":{\"product_id\":\"p\"}}'"#,
            #"'[{"product_id":"p","transaction_id":"10000000000001","original_transaction_id":"10000000000001"}]'"#,
            #"'{"transactionId":"1","originalTransactionId":"1","bundleId":"b","productId":"p","purchaseDate":1}'"#,
        ]
        // In base64, the same text has three forms.
        for blanks in ["", " ", "  "] {
            let text = "{\(blanks)\"signature\" = \"AiOw\"; \"purchase-info\" = \"ewoJ\"; \"pod\" = \"100\";}"
            documents.append("'\(Made.base64(Array(text.utf8)))'")
        }
        for document in documents {
            let rows = "INSERT INTO `t` VALUES (1,\(document)),(2,'nothing');\n"
            for text in [rows, "CREATE TABLE `t` (`id` int, `stuff` text);\n" + rows] {
                let reading = Reading(text)
                #expect(reading.records.count == 1 && !reading.kinds.contains("unknownForm"), "\(document.prefix(60))")
                #expect(reading.statistics.rowsOfOtherTables == 1)
            }
        }
    }

    @Test("Comments with versions show the dialect of MySQL, where names are in double quotes and no title is there")
    func compactANSI() {
        let text = """
            /*!40101 SET character_set_client = utf8mb4 */;
            CREATE TABLE "receipts" (
              "user_id" varchar(64) DEFAULT NULL,
              "receipt" longtext,
              KEY "u" ("user_id")
            );
            INSERT INTO "receipts" VALUES ('O\\'Neil','\(a)'),
            ('\\\\','\(b)');

            """
        for beginning in ["", "/*M!999999\\- enable the sandbox mode */ \n", "/*!50503 SET NAMES utf8mb4 */;\n"] {
            let reading = Reading(beginning + text)
            #expect(reading.receipts == [a, b])
            #expect(reading.records.map { $0.carried("user_id") } == [.text("O'Neil"), .text("\\")])
        }
    }

    /// What one value of a row is read as.
    private func value(_ literal: String, dialect: TableOptions.Dialect? = .mysql) -> CarriedColumn.Value? {
        let text = "INSERT INTO r (note, receipt) VALUES (\(literal),'\(a)');\n"
        let reading = Reading(text, options: InputOptions(table: TableOptions(dialect: dialect)))
        return reading.receipts == [a] ? reading.records[0].carried("note") : nil
    }

    @Test("MySQL's escapes, null, numbers, hexadecimal and introducers")
    func values() {
        #expect(
            value(#"'a\0b\'c\"d\be\nf\rg\th\Zi\\j\%k\_l''m\x,(n)"o'"#)
                == .text("a\0b'c\"d\u{8}e\nf\rg\th\u{1A}i\\j\\%k\\_l'mx,(n)\"o"))
        #expect(value("''") == .text(""))
        #expect(value("'\\\\'") == .text("\\"))
        #expect(value("\"say \"\"it's\"\"\"") == .text("say \"it's\""))
        #expect(value("NULL") == .json("null") && value("null") == .json("null"))
        // A generated column in pg_dump --inserts.
        #expect(value("DEFAULT") == .json("null") && value("'DEFAULT'") == .text("DEFAULT"))
        #expect(value("'NULL'") == .text("NULL") && value("'\\\\N'") == .text("\\N"))
        #expect(value("-1.5e10") == .text("-1.5e10"))
        #expect(value("0x7531") == .text("u1") && value("x'7531'") == .text("u1") && value("X''") == .text(""))
        #expect(value("_binary 'u\\n1'") == .text("u\n1") && value("_utf8mb4'u1'") == .text("u1"))
        #expect(value("b'101'") == .text("101") && value("N'u1'") == .text("u1"))
        // Without backslashes.
        #expect(value(#"'C:\new ''x'''"#, dialect: nil) == .text(#"C:\new 'x'"#))
        for expression in ["NOW()", "concat('a','b')", "DATE '2020-01-01'", "0x753", "x'7g'"] {
            #expect(value(expression) == nil, "\(expression)")
        }
    }

    @Test("Texts with line ends in dumps of SQLite; other expressions have no value")
    func sqliteExpressions() {
        for (expression, text) in [
            (#"replace('a\nb','\n',char(10))"#, "a\nb"),
            (#"replace(replace('it''s\r(\n0)C:\new\012''','\r',char(13)),'(\n0)',char(10))"#, "it's\r\nC:\\new\\012'"),
            (#"unistr('a\u000ab\\c''\u001f')"#, "a\nb\\c'\u{1F}"),
        ] {
            #expect(value(expression, dialect: nil) == .text(text), "\(expression)")
            #expect(value(expression) == nil)
        }
        for other in [
            "replace('a','b')", "replace('a','b','c')", "replace('a','b',char(65))", "replace(,'b',char(10))",
            "replace('a','b','c','\\n',char(10))", "replace('a','',char(10))", "unistr('\\x')", "unistr('\\u00')",
            "unistr('a','b')", "char(10)", "replace(char(10))", "replace(,char(10))", "unistr(')", "unistr()",
        ] {
            #expect(value(other, dialect: nil) == nil, "\(other)")
        }
    }

    @Test("Receipts in their own bytes, in hexadecimal and with MySQL's escapes, also in a column of any name")
    func blobs() {
        let der = Made.der(7)
        var escaped: [UInt8] = []
        for byte in der {
            let names: [UInt8: Character] = [0: "0", 0x0A: "n", 0x0D: "r", 0x1A: "Z"]
            if let name = names[byte]?.asciiValue {
                escaped += [0x5C, name]
            } else if [0x22, 0x27, 0x5C].contains(byte) || byte >= 0xC2 {
                // mysqldump escapes what could begin a character of several bytes.
                escaped += [0x5C, byte]
            } else {
                escaped.append(byte)
            }
        }
        for column in ["receipt", "stuff"] {
            let text = "INSERT INTO `r` (`id`,`\(column)`) VALUES (1,0x\(hex(der))),(2,X'\(hex(der))'),(3,_binary '"
            let bytes = Array(text.utf8) + escaped + Array("');\n".utf8)
            let reading = Reading([.bytes(bytes, name: "dump.sql")])
            let receipt = InputPayload.receipt(der[...])
            #expect(reading.records.map(\.payload) == [receipt, receipt, receipt])
        }
    }

    @Test("SQLite and pg_dump --inserts: doubled quotes, backslashes that mean nothing, line ends in texts")
    func otherDialects() {
        let sqlite = Reading(
            """
            PRAGMA foreign_keys=OFF;
            BEGIN TRANSACTION;
            CREATE TABLE IF NOT EXISTS "the ""order"" items"(id INTEGER, key TEXT, receipt BLOB, CHECK (key <> ','));
            INSERT INTO "the ""order"" items" VALUES(1,'C:\\new\\','\(a)');
            INSERT INTO "the ""order"" items" VALUES(2,'two
            INSERT INTO lines VALUES (''1'');
            ',X'\(hex(Made.der(2)))');
            INSERT INTO "the ""order"" items" VALUES(3,replace('a\\nb','\\n',char(10)),'\(b)');
            COMMIT;

            """)
        #expect(sqlite.kinds == ["receipt", "receipt", "receipt"])
        #expect(sqlite.records[0].carried("key") == .text("C:\\new\\"))
        #expect(sqlite.records[1].carried("key") == .text("two\nINSERT INTO lines VALUES ('1');\n"))
        #expect(sqlite.records[2].carried("key") == .text("a\nb"))
        #expect(sqlite.originals[2].hasSuffix(",'\(b)')"))
        let postgreSQL = Reading(
            """
            --
            -- PostgreSQL database dump
            --

            CREATE TABLE public.receipts (
                id integer DEFAULT nextval('public."a,b"'::regclass) NOT NULL,
                key text,
                receipt text,
                CONSTRAINT one CHECK ((key <> ALL (ARRAY['x'::text, 'y'::text])))
            );

            INSERT INTO public.receipts VALUES (1, 'a\\b''c', '\(a)');
            INSERT INTO public.receipts (receipt, key) OVERRIDING SYSTEM VALUE VALUES ('\(b)', 'x') ON CONFLICT DO NOTHING;

            """)
        #expect(postgreSQL.receipts == [a, b])
        #expect(postgreSQL.records.map { $0.carried("key") } == [.text("a\\b'c"), .text("x")])
    }

    @Test("A damaged row costs itself, says at which byte, and is in the quarantine with all of its bytes")
    func damage() {
        let head = "INSERT INTO `r` (`user_id`,`receipt`) VALUES "
        func check(_ rows: String, _ expected: [String], byte: Int? = nil) {
            let reading = Reading(head + rows)
            #expect(reading.kinds == expected, "\(rows.count)")
            var rest = rows
            for original in reading.originals {
                #expect(rest.contains(original))
                rest = rest.replacing(original, with: "")
            }
            #expect(!rest.contains("MII"))
            for record in reading.records {
                guard let byte, case .unrecognized(let problem) = record.payload else { continue }
                #expect(["byte \(byte):", "byte \(byte) of"].contains { problem.message.contains($0) })
            }
        }
        check("('it's','\(a)'),('u2','\(b)');\n", ["unterminatedQuote", "receipt"], byte: 5)
        check("('u1','\(a)'),('it's','\(b)');\nUNLOCK TABLES;\n", ["receipt", "unterminatedQuote"], byte: 5)
        check("('u1','\(a)),('u2','\(b)'),('u3','\(a)');\n", ["unterminatedQuote", "receipt"])
        check("('u1',,'\(a)'),('u2','\(b)');\n", ["unterminatedQuote", "receipt"], byte: 6)
        check("('u1','\(a)';\nINSERT INTO `r` (`receipt`) VALUES ('\(b)');\n", ["unterminatedQuote", "receipt"])
        check("('u1','\(a)',2),('\(b)'),('u3','\(b)');\n", ["columnCount", "columnCount", "receipt"])
        check("('u1','\(a)'),oops,\n('u2','\(b)');\n", ["receipt", "unterminatedQuote", "receipt"], byte: 0)
        check("('u1','\(a)'),(2,'\(b)", ["receipt", "unterminatedQuote"], byte: 3)
        check("('u1','\(a)'),(2,12345", ["receipt", "unterminatedQuote"], byte: 8)
        check("('u1','\(a)'),('u2,'),(3,'\(b)),(4,NULL);\n", ["receipt", "columnCount", "unterminatedQuote", "empty"])
    }

    @Test("A row that is longer than the limit costs itself; the statement may be of any length")
    func limit() {
        let long = String(repeating: "y", count: 5_000)
        let rows = ["('u1','\(a)')", "('u2','\(long)')", "('u3','\(b)')"]
        let text = "INSERT INTO `r` (`user_id`,`receipt`) VALUES \(rows.joined(separator: ","));\nUNLOCK TABLES;\n"
        for limit in [3_000, rows[1].utf8.count - 1] {
            let reading = Reading(text, options: InputOptions(maximumRecordSize: limit))
            #expect(reading.kinds == ["receipt", "tooLarge", "receipt"])
            #expect(reading.records.map(\.length) == rows.map(\.utf8.count))
        }
        let fitting = Reading(text, options: InputOptions(maximumRecordSize: rows[1].utf8.count))
        #expect(fitting.records.map(\.length) == rows.map(\.utf8.count) && fitting.kinds[1] != "tooLarge")
        let last = "INSERT INTO `r` (`user_id`,`receipt`) VALUES \(rows[0]),\(rows[1]);\nUNLOCK TABLES;\n"
        #expect(Reading(last, options: InputOptions(maximumRecordSize: 3_000)).kinds == ["receipt", "tooLarge"])
    }

    /// Rows of every kind after so many bytes that they do not arrive together with the beginning of the statement.
    private var longDump: String {
        let padding = String(repeating: "x", count: InputLimits.detectionWindow + 64)
        let long = String(repeating: "y", count: 3_000)
        return """
            INSERT INTO `r` (`user_id`,`receipt`) VALUES ('\(padding)',NULL),('a\\'b''c\\\\','\(a)'),
              (0x7531 , _binary '\(b)') ,('it's','\(a)'),('\(long)',NULL),(NULL,'\(b)'),('),(',''),oops),(7,1000000001
            , 8),('','\(a)');\r
            UNLOCK TABLES;

            INSERT INTO `r` (`receipt`) VALUES ('\(b)') ;INSERT INTO `r` (`id`,`receipt`) VALUES (2,'u,
            ('u3,'\(a)
            """
    }

    @Test("A dump is read alike however the bytes arrive", arguments: [1, 61, 4_099])
    func chunks(size: Int) {
        for limit in [InputLimits.recordSize, 2_000] {
            let options = InputOptions(maximumRecordSize: limit)
            let whole = Reading(longDump, options: options)
            #expect(whole.receipts.filter { $0 != "-" } == [a, b, b, a, b])
            #expect(whole.kinds.contains("unterminatedQuote") && whole.kinds.contains("columnCount"))
            #expect(whole.kinds.contains("tooLarge") == (limit == 2_000))
            let pieces = Reading(longDump, options: options, chunkSize: size)
            #expect(pieces.originals == whole.originals && pieces.kinds == whole.kinds)
            #expect(pieces.places == whole.places && pieces.records.map(\.length) == whole.records.map(\.length))
            #expect(pieces.records.map(\.carried) == whole.records.map(\.carried))
        }
    }

    @Test("Damaged dumps are read alike in any chunks, and every receipt is in a record")
    func damagedDumps() {
        var generator = SeededGenerator(seed: 11)
        func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
        /// The padding has none.
        func receipts(_ text: String) -> Int { text.suffix(20_000).split(separator: "MII").count }
        let original = Array(longDump.utf8)
        let alphabet = Array("'\"\\(),;\n x0".utf8)
        for _ in 0..<20 {
            var bytes = original
            for _ in 0..<3 {
                bytes[InputLimits.detectionWindow + random(original.count - InputLimits.detectionWindow)] =
                    alphabet[random(alphabet.count)]
            }
            let whole = Reading([.bytes(bytes, name: "x")])
            let pieces = Reading([.bytes(bytes, name: "x")], chunkSize: 40 + random(3_000))
            #expect(pieces.originals == whole.originals && pieces.kinds == whole.kinds)
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(receipts(whole.originals.joined(separator: "\n")) == receipts(text))
        }
    }

    // MARK: Comments

    @Test("Comments in an INSERT are read over: between rows, in them and before them, in any form")
    func comments() {
        let rows = ["('u1','\(a)')", "('u2','\(b)')"]
        let head = "INSERT INTO `r` (`user_id`,`receipt`) VALUES"
        for text in [
            "\(head) -- first\n\(rows[0]), -- it's the (last),\n\(rows[1]) # end\n;\n",
            "\(head)\(rows[0])/**/,/* ; it's\nINSERT */\(rows[1])/***/ON DUPLICATE KEY UPDATE a = 'x';\n",
            "\(head) ( /* it's */ 'u1' -- ),(\n , # '\n'\(a)'),('u2'/*!50503 COLLATE x */,/**/ '\(b)' /* end */ );\n",
            "INSERT /* a */ INTO `r` # it's\n(`user_id`, -- who\n`receipt`) /*!40000 x */ VALUES \(rows.joined(separator: ","));",
            """
            CREATE TABLE r(user_id TEXT, -- the user's id
            /* Apple's, */ receipt TEXT -- (base64
            );
            INSERT INTO r VALUES\(rows[0]);
            INSERT INTO r VALUES('u2' --2
            ,'\(b)'); -- it's

            """,
            "insert into r (user_id, receipt) values \(rows[0]), --no blank\n\(rows[1]) -- the end",
        ] {
            let reading = Reading(text)
            #expect(reading.receipts == [a, b], "\(text.prefix(60))")
            #expect(reading.records.map { $0.carried("user_id") } == [.text("u1"), .text("u2")])
        }
        #expect(value("/* '(' */ 'u1' -- it's\n") == .text("u1") && value("NULL/* none */") == .json("null"))
        #expect(value("'-- /* # '") == .text("-- /* # ") && value("'a''/**/'") == .text("a'/**/"))
        #expect(value("1 # x\n") == .text("1") && value("0x75/**/") == .text("u") && value("'/*'/**/") == .text("/*"))
        // Two minus signs alone are no comment to MySQL, and a number sign is none to others.
        #expect(value("--1") == .text("--1") && value("--1\n 'u1'", dialect: nil) == .text("u1"))
        #expect(value("1 #x", dialect: nil) == .text("1 #x"))
        // A comment is no value.
        #expect(value("/* none */") == nil && value("/*!40101 'u1' */") == nil)
    }

    @Test("A comment without an end, or one that is too long, costs one row; one with a document is a record")
    func damagedComment() {
        let head = "INSERT INTO `r` (`user_id`,`receipt`) VALUES "
        let long = String(repeating: "x", count: 70_000)
        for (rows, kinds) in [
            ("('u1','\(a)' /* no end),('u2','\(b)');\n", ["unterminatedQuote", "receipt"]),
            ("('u1','\(a)'), /* no end\n('u2','\(b)');\n", ["receipt", "unterminatedQuote", "receipt"]),
            ("('u1','\(a)'/* \(long) */),('u2','\(b)');\n", ["unterminatedQuote", "receipt"]),
            ("('u1' -- \(long)\n,'\(a)'),('u2','\(b)');\n", ["unterminatedQuote", "unterminatedQuote", "receipt"]),
            ("('u1','\(a)'),\n# ('u2','\(b)'),\n('u3','\(a)');\n", ["receipt", "unknownForm", "receipt"]),
            ("('u1','\(a)'),/* 'u2','\(b)' */('u3','\(a)');\n", ["receipt", "unknownForm", "receipt"]),
            ("('u1','\(a)') -- \(long)\n,('u2','\(b)');\n", ["receipt", "unterminatedQuote", "receipt"]),
            ("(\(String(repeating: "/**/", count: 5_000))1,NULL),('u2','\(b)');\n", ["unterminatedQuote", "receipt"]),
        ] {
            let reading = Reading(head + rows)
            #expect(reading.kinds == kinds, "\(rows.prefix(20))")
            let bytes = Array((head + rows).utf8)
            for record in reading.records {
                let start = record.place.byteOffset
                #expect(Array(bytes[start..<(start + record.length)]) == Array(record.original))
            }
        }
        let rows = "('u1','\(a)'),\n-- ('u2','\(b)'),\n('u3','\(a)');\n"
        #expect(Reading(head + rows).places == ["input, row 1", "input, line 2", "input, row 3"])
        #expect(Reading(head + rows, options: InputOptions(receiptColumns: ["receipt"])).receipts == [a, a])
    }

    private var commentedDump: String {
        let padding = String(repeating: "x", count: InputLimits.detectionWindow + 64)
        return """
            INSERT INTO `r` (`user_id`,`receipt`) VALUES ('\(padding)',NULL),/* it's */('a' -- ),(
            ,'\(a)') # ('
            ,(/*!50503 _x */ 'b',/**/'\(b)'/* ** */),-- ('c','\(a)'),
            ('d',/* \(String(repeating: "z", count: 70_000)) */'\(b)'),(--1
            ,NULL),('e','\(a)' /* no end),('f','\(b)');\r
            -- end
            INSERT INTO `r` (`receipt`) VALUES /* no end
            ('\(a)'), # end
            """
    }

    @Test("A dump with comments is read alike however the bytes arrive", arguments: [1, 61, 4_099])
    func chunksOfComments(size: Int) {
        for limit in [InputLimits.recordSize, 2_000] {
            let options = InputOptions(maximumRecordSize: limit)
            let whole = Reading(commentedDump, options: options)
            if limit > 2_000 { #expect(whole.receipts == ["-", a, b, "-", "-", "-", "-", b, "-", a]) }
            let pieces = Reading(commentedDump, options: options, chunkSize: size)
            #expect(pieces.originals == whole.originals && pieces.kinds == whole.kinds)
            #expect(pieces.places == whole.places && pieces.records.map(\.length) == whole.records.map(\.length))
            #expect(pieces.records.map(\.carried) == whole.records.map(\.carried))
        }
    }

    @Test("Damaged comments are read alike in any chunks, and every receipt is in a record")
    func damagedComments() {
        var generator = SeededGenerator(seed: 5)
        func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
        let original = Array(commentedDump.utf8)
        let end = original[InputLimits.detectionWindow...]
        let receipts = [a, b].flatMap { end.ranges(of: Array($0.utf8)) }
        let places = end.indices.filter { index in
            original[index] != UInt8(ascii: "z") && !receipts.contains { $0.contains(index) }
        }
        let alphabet = Array("'\"\\(),;\n x0#-/*".utf8)
        for _ in 0..<30 {
            var bytes = original
            for _ in 0..<3 { bytes[places[random(places.count)]] = alphabet[random(alphabet.count)] }
            let whole = Reading([.bytes(bytes, name: "x")])
            let pieces = Reading([.bytes(bytes, name: "x")], chunkSize: 40 + random(3_000))
            #expect(pieces.originals == whole.originals && pieces.kinds == whole.kinds)
            let found = whole.originals.joined(separator: "\n")
            for receipt in [a, b] {
                #expect(count(receipt, in: found) == count(receipt, in: String(decoding: bytes, as: UTF8.self)))
            }
        }
    }

    /// The padding has none.
    private func count(_ part: String, in text: String) -> Int {
        text.utf8.suffix(100_000).ranges(of: Array(part.utf8)).count
    }
}
