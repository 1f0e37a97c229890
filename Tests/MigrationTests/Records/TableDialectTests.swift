import AppStoreModels
import Migration
import Testing

@Suite("Dialects of tables")
struct TableDialectTests {
    private let a = Made.receipt(1)
    private let b = Made.receipt(2)

    private func options(
        _ dialect: TableOptions.Dialect? = nil, delimiter: Unicode.Scalar? = nil, hasHeader: Bool = true,
        column: String? = nil
    ) -> InputOptions {
        InputOptions(
            receiptColumns: column.map { [$0] } ?? [],
            table: TableOptions(dialect: dialect, delimiter: delimiter, hasHeader: hasHeader))
    }

    @Test("MySQL: backslashes escape quotes, line ends, delimiters and themselves, in quotes and without")
    func mysql() {
        let text = """
            id,receipt,note
            "1","\(a)","say \\"hi\\", \\\\ and ""you""\\
            \\t\\0."
            2,\(b),one\\, two\\
            three
            3,\\N,\\N

            """
        let reading = Reading(text, options: options(.mysql))
        #expect(reading.errors.isEmpty)
        #expect(reading.receipts == [a, b, "-"])
        #expect(reading.places == ["input, row 2", "input, row 3", "input, row 4"])
        #expect(reading.records[0].carried("note") == .text("say \"hi\", \\ and \"you\"\n\t\0."))
        #expect(reading.records[1].carried("note") == .text("one, two\nthree"))
        #expect(reading.records[2].carried("note") == .json("null"))
    }

    @Test("MySQL without quotes: one at the beginning of a value is a part of it, and joins no rows")
    func mysqlWithoutQuotes() {
        let options = self.options(.mysql, delimiter: "\t", hasHeader: false, column: "column 2")
        let values = ["\"open", "12\" disc", "\"", "\"x\"", "y"]
        let text = values.enumerated().map { "u\($0)\t\(Made.receipt($0))\t\($1)\n" }.joined()
        // Also if the quote is never closed.
        for text in [text, "u\t\(a)\t\"open\nv\t\(b)\ty\n"] {
            let reading = Reading(text, options: options)
            #expect(reading.errors.isEmpty && reading.records.count == text.split(separator: "\n").count)
            #expect(reading.records[0].carried("column 3") == .text("\"open"))
        }
        #expect(Reading(text, options: options).records.map { $0.carried("column 3") } == values.map { .text($0) })
        // A column that always has them shows that they are none of the values.
        let enclosed = Reading(
            "1\t\"\(a)\"\t\"say \\\"hi\\\"\"\n2\t\\N\t\"a\tb\"\n3\t\"\(b)\"\t\\N\n", options: options)
        #expect(enclosed.receipts == [a, "-", b])
        #expect(enclosed.records[0].carried("column 3") == .text("say \"hi\""))
        #expect(enclosed.records[1].carried("column 3") == .text("a\tb"))
    }

    @Test("JSON with backslashes before its quotes is detected; the same rows with doubled quotes stay RFC 4180")
    func detection() {
        let rows = (1...34).map { number in
            "\"\(number)\",\"{\\\"receipt\\\":\\\"\(Made.receipt(number))\\\",\\\"user\\\":\(number)}\""
        }
        let reading = Reading("id,data\n" + rows.joined(separator: "\n"))
        #expect(reading.receipts == (1...34).map { Made.receipt($0) })
        #expect(reading.records[4].carried("data.user") == .json("5"))
        let doubled = rows.map { $0.replacing("\\\"", with: "\"\"") }
        #expect(Reading("id,data\n" + doubled.joined(separator: "\n")).receipts == reading.receipts)
        // A Windows path in a table that fits is no escape.
        let path = Reading("id,receipt,path\n1,\(a),C:\\new\n2,\(b),C:\\old\n")
        #expect(path.records[0].carried("path") == .text("C:\\new"))
    }

    @Test("JSON that only escapes make JSON shows the dialect of a table with tabs, also if its rows fit without them")
    func detectionByJSON() {
        func json(_ receipt: String) -> String {
            #"{\n  "receipt": "\#(receipt)",\n  "memo": "say \\"hi\\""\n}"#
        }
        let reading = Reading("id\tdata\tnote\nu1\t\(json(a))\t\"x\"\nu2\t\(json(b))\ta\\tb\nu3\t\\N\t\\N\n")
        #expect(reading.errors.isEmpty && reading.receipts == [a, b, "-"])
        #expect(reading.records[0].carried("data.memo") == .text("say \"hi\""))
        #expect(reading.records[0].carried("note") == .text("\"x\""))
        #expect(reading.records[1].carried("note") == .text("a\tb"))
        // JSON with backslashes of its own, which escapes would damage.
        let own = Reading("id\tdata\tnote\nu1\t{\"receipt\":\"\(a)\",\"memo\":\"say \\\"hi\\\"\"}\tC:\\new\n")
        #expect(own.receipts == [a] && own.records.first?.carried("note") == .text("C:\\new"))
        // A backslash that neither MySQL nor PostgreSQL writes is a part of its value. The damaged row names the dialect.
        let mixed = Reading("user_id\tpayload\nSHOP\\xi\t\(a)\nu2\t\(json(b))\n")
        #expect(mixed.kinds == ["receipt", "invalidJSON"])
        #expect(mixed.records.first?.carried("user_id") == .text("SHOP\\xi"))
        guard case .unrecognized(let problem)? = mixed.records.last?.payload else { return }
        #expect(problem.message.hasSuffix("It is JSON in the table dialect mysql (--table-dialect)."))
    }

    @Test(
        "A quote after a backslash shows the dialect of MySQL, also in one row; where it comes late, the row is quarantined"
    )
    func backslashQuote() {
        let early = Reading("user_id,receipt\n\"u\\\"1\",\"\(a)\"\n")
        #expect(early.receipts == [a] && early.records[0].carried("user_id") == .text("u\"1"))
        // A backslash before the end of a field is itself in RFC 4180.
        let path = Reading("user_id,receipt\n\"u\\\",\"\(a)\"\n\"v\",\"\(b)\"\n", name: "t.csv")
        #expect(path.receipts == [a, b] && path.records[0].carried("user_id") == .text("u\\"))
        let many = (1...200).map { "\"u\($0)\",\"\(a)\"\n" }.joined()
        let late = Reading("user_id,receipt\n\(many)\"u\\\"x\",\"\(b)\"\n")
        #expect(late.records.count == 201 && late.kinds.last == "unterminatedQuote")
        #expect(late.records.last?.carried.isEmpty == true)
    }

    @Test("PostgreSQL's COPY: escapes and codes, null, quotes that mean nothing, and the end mark; columns by number")
    func copy() {
        let text = "1\t\(a)\t\"line\\none\\ttab \\x41\\101\\\\ \\q\n2\t\\N\t\\N\n3\t\(b)\tx\\\ny\n\\.\n"
        let reading = Reading(text, options: options(.postgresql, hasHeader: false, column: "column 2"))
        #expect(reading.errors.isEmpty)
        #expect(reading.receipts == [a, "-", b])
        #expect(reading.places == ["input, row 1", "input, row 2", "input, row 3"])
        #expect(reading.records[0].carried("column 3") == .text("\"line\none\ttab AA\\ q"))
        #expect(reading.records[1].carried("column 3") == .json("null"))
        #expect(reading.records[2].carried("column 3") == .text("x\ny"))
        #expect(reading.statistics.blankLines == 1)
    }

    @Test("A dialect is read alike however the bytes arrive", arguments: [1, 2, 3, 7])
    func chunks(size: Int) {
        let text = "id,receipt,note\n\"1\",\"\(a)\",\"a\\\"b\\\\\"\n2,\(b),c\\\nd\n3,\(a),\\N\n"
        let whole = Reading(text, options: options(.mysql))
        let pieces = Reading([.bytes(Array(text.utf8), name: "input")], options: options(.mysql), chunkSize: size)
        #expect(pieces.originals == whole.originals && pieces.receipts == whole.receipts)
        #expect(whole.originals.count == 3)
    }

    @Test("--quote sets other quotes than double ones, in each dialect, and a message names the option")
    func quotes() {
        func options(_ dialect: TableOptions.Dialect? = nil) -> InputOptions {
            InputOptions(table: TableOptions(dialect: dialect, quote: "'"))
        }
        let text = "'id','receipt','note'\n'1','\(a)','it''s, \"x\n y'\n2,\(b),\"z\"\n"
        for reading in [Reading(text, options: options()), Reading(text, options: options(.mysql))] {
            #expect(reading.receipts == [a, b])
            #expect(reading.records.first?.carried("note") == .text("it's, \"x\n y"))
            #expect(reading.records.last?.carried("note") == .text("\"z\""))
        }
        let escaped = Reading("'id','receipt'\n'u\\'1','\(a)'\n", options: options())
        #expect(escaped.receipts == [a] && escaped.records.first?.carried("id") == .text("u'1"))
        // A dump has single quotes of its own, and escapes in them.
        let dump = Reading("INSERT INTO r (receipt, note) VALUES ('\(a)', 'it''s');\n", options: options())
        #expect(dump.receipts == [a] && dump.records.first?.carried("note") == .text("it's"))
        let unnamed = Reading("'id','receipt'\n'1','\(a)'\n", name: "t.csv").errors.first
        #expect(unnamed?.message.contains(#"--quote "'""#) == true, "\(unnamed?.message ?? "")")
        for character: Unicode.Scalar in ["a", "1", " ", "\t", "\\", "\n", "é"] {
            #expect(!TableOptions.isQuote(character))
        }
    }

    @Test("Any delimiter can be named, and Excel's first line names it")
    func delimiters() {
        let piped = Reading("id|receipt\n1|\(a)\n2|\(b)\n", options: options(delimiter: "|"))
        #expect(piped.receipts == [a, b])
        #expect(piped.records[1].carried("id") == .text("2"))
        for lineEnd in ["\n", "\r\n"] {
            let excel = Reading(["sep=;", "id,1;receipt", "1;\(a)", "2;\(b)", ""].joined(separator: lineEnd))
            #expect(excel.receipts == [a, b])
            #expect(excel.records[1].carried("id,1") == .text("2"))
            #expect(excel.places == ["input, row 3", "input, row 4"])
        }
        for character: Unicode.Scalar in ["a", "1", "\"", "\\", "\n", "\r", "é"] {
            #expect(!TableOptions.isDelimiter(character))
        }
    }

    @Test("Vertical bars separate the columns of a table that no other delimiter explains, in each dialect")
    func verticalBars() {
        // As sqlite3 prints rows, and with column names that are not known.
        #expect(Reading("1|\(a)|x, y\n2|\(b)|z\n").receipts == [a, b])
        #expect(Reading("id|blob|note\n1|\(a)|x\n2|\(b)|\"y|z\"\n").records.last?.carried("note") == .text("y|z"))
        #expect(Reading("\(a)|1\n\(b)|2\n").records.map { $0.carried("column 2") } == [.text("1"), .text("2")])
        // A row with a missing field does not hide the header.
        #expect(Reading("id|receipt|note\n1|\(a)|x\n2|\(b)\n").kinds == ["receipt", "columnCount"])
        #expect(Reading("id|mine\n1|\(a)\n", options: options(column: "mine")).receipts == [a])
        #expect(Reading("1|\(a)\n", options: options(hasHeader: false, column: "column 2")).receipts == [a])
        // Backslash escapes of MySQL, as in a comma-separated table, or of PostgreSQL.
        let escaped = Reading("id|receipt\n\"u\\\"1\"|\(a)\n")
        #expect(escaped.receipts == [a] && escaped.records[0].carried("id") == .text("u\"1"))
        let copy = Reading("x\\|y|\(a)\n\\N|\(b)\n\\.\n", options: options(.postgresql, hasHeader: false))
        #expect(copy.receipts == [a, b] && copy.records[0].carried("column 1") == .text("x|y"))
        // The message about a column that is missing lists those that bars separate.
        let wrong = Reading("id|name\n1|x\n", name: "t.csv").errors.first
        #expect(wrong?.message.contains("The columns are: id, name.") == true)
    }

    @Test("Vertical bars in the values of another table, in text and in the lines of a log separate nothing")
    func verticalBarsInValues() {
        let tags = Reading("id,receipt,tags\n1,\(a),x|y|z|u\n2,\(b),v|w|x|y\n")
        #expect(tags.records.first?.carried("tags") == .text("x|y|z|u"))
        #expect(Reading("1,a|b|c|d,\(a)\n2,e|f|g|h,\(b)\n").records[1].carried("column 2") == .text("e|f|g|h"))
        #expect(Reading("1\t\(a)\tx|y\n2\t\(b)\tx|y\n").receipts == [a, b])
        #expect(Reading("one | two\nthree | four\nfive | six\n").errors.isEmpty)
        for first in ["2024-01-01 | INFO | started\n", "2024-01-01 | receipt | {\"status\":21002}\n", ""] {
            let lines = [a, b].map { "2024-01-02 | INFO | {\"receipt-data\":\"\($0)\"}\n" }
            let log = Reading(first + lines.joined())
            #expect(log.errors.isEmpty)
            #expect(log.records.allSatisfy { $0.place.description.contains("line") })
            #expect(log.receipts.filter { $0 != "-" } == [a, b])
        }
    }

    @Test("Without a header no row is lost, and a column beyond the last one stops with the columns there are")
    func withoutHeader() {
        let text = "1,\(a),x\n2,\(b),y\n"
        let reading = Reading(text, options: options(hasHeader: false, column: "column 2"))
        #expect(reading.receipts == [a, b])
        #expect(reading.records[0].carried("column 3") == .text("x"))
        let beyond = Reading(text, options: options(hasHeader: false, column: "column 4"))
        #expect(beyond.records.isEmpty)
        #expect(beyond.errors.first?.code == .columnNotFound)
        #expect(beyond.errors.first?.message.contains("column 1, column 2, column 3") == true)
        // What looks like a header is data; nothing shows a receipt of the table in the message.
        let named = Reading(text, name: "t.csv", options: options(column: "receipt"))
        #expect(named.errors.first?.message.contains("--no-header") == true)
        #expect(named.errors.first?.message.contains(a.prefix(20)) == false)
    }

    @Test("A row that fits in another dialect says in which")
    func hint() {
        let text = "id,receipt,note\n1,\(a),x\n2,\(b),\"a\\\",\\\"b\"\n"
        let reading = Reading(text, options: options(.csv))
        guard case .unrecognized(let problem) = reading.records.last?.payload else {
            Issue.record("The last row fits in RFC 4180")
            return
        }
        #expect(problem.code == .columnCount)
        #expect(problem.message.contains("mysql"))
    }

    @Test("Of a row with far more fields than the header, not all are read")
    func superfluousFields() {
        let rows = (1...5).map { "\($0),\(Made.receipt($0))\n" }.joined()
        let reading = Reading("id,receipt\n\(rows)\(String(repeating: ",", count: 100_000))\n", name: "t.csv")
        #expect(reading.kinds == Array(repeating: "receipt", count: 5) + ["columnCount"])
        guard case .unrecognized(let problem)? = reading.records.last?.payload else { return }
        #expect(problem.message.contains("at least \(InputLimits.superfluousFields + 4) fields"))
    }

    @Test("Rows that another dialect would not have joined are quarantined together, and the message names it")
    func joinedRows() {
        func message(_ text: String, _ options: InputOptions) -> String? {
            let reading = Reading(text, options: options)
            #expect(reading.kinds == ["columnCount"])
            guard case .unrecognized(let problem)? = reading.records.first?.payload else { return nil }
            return problem.message
        }
        let paths = "id,receipt,path\n1,\(a),\"C:\\\"\n2,\(b),\"D:\\\"\n"
        #expect(message(paths, options(.mysql))?.contains("2 rows in the table dialect csv") == true)
        #expect(message(paths.replacing("\n", with: "\r\n"), options(.mysql))?.contains("2 rows") == true)
        #expect(Reading(paths, options: options(.csv)).receipts == [a, b])
        let ids = "id,transaction_id,path\n1,1000000001,\"C:\\\"\n2,1000000002,\"D:\\\"\n"
        #expect(message(ids, options(.mysql))?.contains("dialect csv") == true)
        let stray = "id,receipt,note\n1,\(a),\"open\n2,\(b),x\n3,\(a),\"y\"\n"
        #expect(message(stray, InputOptions())?.contains("3 rows in the table dialect postgresql") == true)
        // Line feeds in values do not join rows.
        let note = "id,receipt,note\n1,\(a),\"one\nthree, four, five\nsix, seven, eight\"\n"
        #expect(Reading(note).receipts == [a])
        #expect(Reading("id,receipt\n1,\"\(Made.wrapped(a, at: 64))\"\n").kinds == ["receipt"])
    }

    @Test("Rows joined by a quote are quarantined together, also if only the first one has a document")
    func joinedRowsWithoutDocuments() {
        // The user of the second row would be a part of the note of the first one.
        let joined = [
            "user_id,receipt,note\nuser-1,\(a),\"open\nuser-22,,\"\n", "id,receipt,note\n1,\(a),\"open\n2,,x\n3,,\"\n",
            "user_id,receipt,note\nann,\(a),\"open\nbob,,\"x\"\n",
        ]
        for text in joined {
            let reading = Reading(text)
            #expect(reading.kinds == ["columnCount"], "\(text)")
            guard case .unrecognized(let problem)? = reading.records.first?.payload else { continue }
            #expect(problem.message.contains("rows in the table dialect postgresql"), "\(problem.message)")
        }
        let path = "user_id,receipt,path\nuser-1,\(a),\"C:\\\"\nuser-2,,\"D:\\\"\n"
        #expect(Reading(path, options: options(.mysql)).kinds == ["columnCount"])
        // Lines of a text with as many commas.
        let text = "user_id,receipt,note\nuser-1,\(a),\"Dear Ann\nsee, you, soon\nBob, the, builder 2\"\n"
        #expect(Reading(text).receipts == [a])
    }

    @Test("The lines of a text beside a receipt are no rows, also with as many commas and an id at their beginning")
    func linesOfAddresses() {
        let after = "user_id,receipt,address\n17,\(a),\"Hauptstr. 5\n10115, Berlin, DE\"\n"
        let before = "user_id,address,receipt\n17,\"5 Main Street, Apt 4\nSpringfield, IL 62704\",\(a)\n"
        let first = "note,receipt\n\"Hello, Ann\nthanks\",\(a)\n"
        let quoted = "\"user_id\",\"receipt\",\"address\"\n\"17\",\"\(a)\",\"Hauptstr. 5\n10115, Berlin, DE\"\n"
        // Some writers leave a blank before the delimiter or the end of the line.
        let blank = "user_id,receipt,note\n17,\(a),\"first\nsecond, third, fourth\" \n"
        for text in [after, before, first, quoted, blank] {
            #expect(Reading(text).receipts == [a], "\(text)")
            #expect(Reading(text.replacing("\n", with: "\r\n")).receipts == [a], "\(text)")
        }
        // The second user must not get the first one's receipt, so an empty or a short value proves no text.
        for value in ["", "\\N", "NULL", "pending"] {
            let joined = "id,note,receipt\n17,\"open,\(value)\n18,\"closed,\(a)\n"
            #expect(Reading(joined).receipts == ["-"], "\(value)")
            let even = "id,note,receipt\n17,\"open,\(value)\n18,open\",\(a)\n"
            #expect(Reading(even).kinds == ["columnCount"], "\(value)")
        }
    }

    @Test("One damaged row among many does not hide that backslashes are escapes")
    func detectionBesideDamage() {
        func rows(_ count: Int, _ damage: [Int: (String) -> String]) -> String {
            let rows = (1...count).map { number in
                let receipt = Made.receipt(number)
                let row = "\"u\(number)\",\"{\\\"receipt\\\":\\\"\(receipt)\\\",\\\"n\\\":1,\\\"m\\\":2}\""
                return damage[number].map { $0(row) } ?? row
            }
            return "id,data\n" + rows.joined(separator: "\n") + "\n"
        }
        let lacksQuote = { (row: String) in row.replacing("\",\"{", with: ",\"{") }
        let lacksField = { (row: String) in String(row.drop { $0 != "{" }) }
        let all = (1...34).map { Made.receipt($0) }
        for (damage, number) in [(lacksQuote, 1), (lacksField, 3), (lacksField, 34)] {
            let reading = Reading(rows(34, [number: damage]), name: "t.csv")
            #expect(reading.errors.isEmpty && reading.records.count == 34, "\(number)")
            #expect(reading.receipts.filter { $0 != "-" } == all.filter { $0 != Made.receipt(number) }, "\(number)")
            #expect(reading.kinds.filter { $0 == "columnCount" }.count == 1, "\(number)")
        }
        // Few rows, or several that do not fit, prove nothing.
        for text in [rows(9, [3: lacksField]), rows(34, [3: lacksField, 7: lacksField])] {
            #expect(Reading(text, name: "t.csv").receipts.allSatisfy { $0 == "-" })
        }
        // A table that fits without escapes beside one damaged row has none.
        let paths = (1...20).map { "\($0),\(Made.receipt($0)),\"C:\\\"\n" }
        let plain = Reading("id,receipt,path\n" + paths.joined() + "21,x\n", name: "t.csv")
        #expect(plain.receipts.prefix(20) == all.prefix(20) && plain.records[0].carried("path") == .text("C:\\"))
    }

    @Test("A column that the caller names and the table does not have stops at once")
    func otherColumns() {
        let text = "id,receipt\n1,\(a)\n2,\(b)\n"
        let wrong = Reading(text, options: InputOptions(otherColumns: ["id", "user"]))
        #expect(wrong.records.isEmpty)
        #expect(wrong.errors.first?.code == .columnNotFound)
        #expect(wrong.errors.first?.message.contains("no column user. Its columns are: id, receipt") == true)
        #expect(Reading(text, options: InputOptions(otherColumns: ["id"])).receipts == [a, b])
    }

    @Test("A table with another delimiter than those that are detected says how to name it")
    func delimiterHint() {
        for (delimiter, argument) in [("^", "'^'"), ("~", "'~'"), ("\u{1}", "$'\\x01'")] {
            let text = "id\(delimiter)\"name\"\(delimiter)receipt\n1\(delimiter)x\(delimiter)\(a)\n"
            for column in [nil, "receipt"] {
                let reading = Reading(text, name: "t.csv", options: options(column: column))
                #expect(reading.records.isEmpty)
                #expect(reading.errors.first?.message.contains("--delimiter \(argument)") == true, "\(argument)")
            }
        }
        #expect(Reading("id,name\n1,x\n", name: "t.csv").errors.first?.message.contains("--delimiter") == false)
    }

    @Test("A table without a detected column names the dialect of MySQL if it has quotes after backslashes")
    func dialectHint() {
        // The second row lacks a quote, so no dialect fits all rows.
        let rows = ["\"1\"", "\"2"].map { "\($0),\"{\\\"receipt\\\":\\\"\(a)\\\",\\\"x\\\":1,\\\"y\\\":2}\"\n" }
        let text = "id,note\n\(rows.joined())"
        let reading = Reading(text, name: "t.csv")
        #expect(reading.records.isEmpty)
        #expect(reading.errors.first?.message.contains("pass --table-dialect mysql") == true)
        #expect(Reading(text, name: "t.csv", options: options(.mysql)).kinds.last == "columnCount")
        #expect(Reading("id,name\n1,x\n", name: "t.csv").errors.first?.message.contains("--table-dialect") == false)
    }

    @Test("The end mark of COPY is no record in any dialect")
    func endMark() {
        #expect(Reading("1\t\(a)\n2\t\(b)\n\\.\n").receipts == [a, b])
        #expect(Reading("id\treceipt\n1\t\(a)\n2\t\(b)\n\\.\n").receipts == [a, b])
        #expect(Reading("\(a)\n\(b)\n\\.\n").receipts == [a, b])
        #expect(Reading("1000000001\n1000000002\n\\.\n").kinds == ["id 1000000001", "id 1000000002"])
    }

    private var dump: String {
        """
        --
        -- PostgreSQL database dump
        --

        SET client_encoding = 'UTF8';

        CREATE TABLE public.receipts (id integer, "user id" text, receipt text);

        COPY public.users (id, name) FROM stdin;
        1\tAnn
        2\tBob
        \\.


        COPY public.receipts (id, "user id", receipt) FROM stdin;
        1\tu\\n1\t\(a)
        2\t\\N\t\(b)
        3\tu3\t\\N
        \\.


        COPY public.log (at, line) FROM stdin;
        2024\tnothing
        2024\t\(a)
        \\.

        INSERT INTO public.old VALUES (1, '\(b)');
        SELECT pg_catalog.setval('public.id', 2, true);

        """
    }

    @Test("The text of pg_dump: the rows of tables with receipts, and no document of the others is lost")
    func pgDump() {
        let reading = Reading(dump, name: "dump.sql")
        #expect(reading.errors.isEmpty)
        #expect(reading.kinds == ["receipt", "receipt", "empty", "receipt", "receipt"])
        #expect(reading.receipts == [a, b, "-", a, b])
        #expect(
            reading.places == [
                "dump.sql, row 16", "dump.sql, row 17", "dump.sql, row 18", "dump.sql, row 24", "dump.sql, row 27",
            ])
        #expect(reading.records[0].carried("user id") == .text("u\n1"))
        #expect(reading.records[1].carried("user id") == .json("null"))
        #expect(reading.records[3].carried("at") == .text("2024"))
        let copy = "COPY receipts (receipt) FROM stdin;\n\(a)\n\\.\n"
        #expect(Reading(copy).receipts == [a])
        #expect(Reading(copy, options: InputOptions(format: .csv)).receipts == [a])
    }

    @Test("With a named column, only the tables of a dump that have it are read; a column that none has stops at once")
    func pgDumpColumns() {
        #expect(Reading(dump, options: InputOptions(receiptColumns: ["line"])).receipts == ["-", a])
        let wrong = Reading(dump, options: InputOptions(receiptColumns: ["reciept"]))
        #expect(wrong.records.isEmpty)
        #expect(wrong.errors.first?.code == .columnNotFound)
        #expect(wrong.errors.first?.message.contains("id, user id, receipt") == true)
        let user = Reading(dump, options: InputOptions(otherColumns: ["user"]))
        #expect(user.errors.first?.code == .columnNotFound)
        #expect(Reading(dump, options: InputOptions(otherColumns: ["user id"])).records.count == 5)
    }

    @Test("A dump is read alike however the bytes arrive", arguments: [1, 2, 3, 7])
    func dumpChunks(size: Int) {
        let whole = Reading(dump)
        let pieces = Reading([.bytes(Array(dump.utf8), name: "input")], chunkSize: size)
        #expect(pieces.originals == whole.originals && pieces.receipts == whole.receipts)
        #expect(pieces.places == whole.places)
    }
}
