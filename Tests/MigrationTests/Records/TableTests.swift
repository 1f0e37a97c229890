import AppStoreModels
import Migration
import Testing

@Suite("Tables")
struct TableTests {
    private let a = Made.receipt(1)
    private let b = Made.receipt(2)

    private func failure(_ text: String, name: String = "t.csv", options: InputOptions = InputOptions()) -> InputError?
    {
        let reading = Reading(text, name: name, options: options)
        #expect(reading.records.isEmpty)
        return reading.errors.first
    }

    @Test("each delimiter is detected", arguments: [",", ";", "\t", "|"])
    func delimiters(delimiter: String) {
        let rows = [["user_id", "receipt", "note"], ["42", a, "one"], ["43", b, "two"]]
        let reading = Reading(rows.map { $0.joined(separator: delimiter) }.joined(separator: "\n"))
        #expect(reading.receipts == [a, b])
        #expect(reading.places == ["input, row 2", "input, row 3"])
        #expect(
            reading.records[1].carried == [
                .init(name: "user_id", value: .text("43")), .init(name: "note", value: .text("two")),
            ])
        #expect(reading.originals[0] == ["42", a, "one"].joined(separator: delimiter))
    }

    @Test("quoted fields may hold delimiters, doubled quotes and line ends")
    func quoting() {
        let text = "\u{FEFF}\"user \"\"id\"\"\",receipt\r\n\"a,b\r\nc \"\"d\"\"\",\"\(a)\"\r\n\r\n\"\",\(b)\r\n"
        let reading = Reading(text)
        #expect(reading.receipts == [a, b])
        #expect(reading.records[0].carried == [.init(name: "user \"id\"", value: .text("a,b\r\nc \"d\""))])
        #expect(reading.records[1].carried == [.init(name: "user \"id\"", value: .text(""))])
        #expect(reading.places == ["input, row 2", "input, row 4"])
        #expect(reading.statistics.blankLines == 1)
    }

    @Test("a receipt wrapped inside a quoted field stays whole")
    func wrappedField() {
        let wrapped = Made.wrapped(a, at: 76)
        #expect(Reading("id,receipt\n1,\"\(wrapped)\"\n2,\(b)\n").receipts == [wrapped, b])
    }

    @Test("JSON in a quoted field is recognized")
    func json() {
        let quoted = Made.reply.replacing("\"", with: "\"\"")
        let reading = Reading("id,data\n1,\"\(quoted)\"\n2,\"{\"\"user\"\":5,\"\"receipt\"\":\"\"\(a)\"\"}\"\n")
        #expect(reading.kinds == ["reply", "receipt"])
        #expect(
            reading.records[1].carried == [
                .init(name: "id", value: .text("2")), .init(name: "data.user", value: .json("5")),
            ])
    }

    @Test("the column is found by name, else by content, else the caller names it")
    func columns() {
        #expect(Reading("id,base64,x\n1,\(a),y\n").receipts == [a])
        #expect(Reading("id,blob,x\n1,,y\n2,\(a),z\n").receipts == ["-", a])
        #expect(Reading("id,one,two\n1,\(a),\(b)\n", options: .init(receiptColumns: ["two"])).receipts == [b])
        #expect(Reading("receipt\n\(a)\n\(b)\n").receipts == [a, b])
        #expect(Reading("\"receipt\"\n\"\(a)\"\n").receipts == [a])
    }

    @Test("every named column with content is read, whichever of them it is")
    func twoColumns() {
        #expect(Reading("receipt,latest_receipt\n,\(a)\n").receipts == [a])
        let both = Reading("u,receipt,latest_receipt\n1,\(a),\(b)\n2,\(a),\(a)\n3,,\(b)\n")
        #expect(both.kinds == ["receipt+receipt", "receipt", "receipt"])
        #expect(both.records.allSatisfy { $0.carried("u") != nil })
    }

    @Test("a row is read like an object of the same members, in any order of the columns")
    func likeObjects() throws {
        let reply = Made.reply
        let list = "[\(Made.row)]"
        let notification = #"{"notification_type":"RENEWAL","latest_receipt":"abc"}"#
        let rows: [[String: String]] = [
            ["receipt": a, "response": reply], ["receipt": "", "response": reply], ["receipt": a, "response": ""],
            ["receipt": a, "latest_receipt": b], ["receipt": a, "latest_receipt_info": list],
            ["receipt": a, "pending_renewal_info": "[]", "note": "x"], ["body": notification, "receipt": a],
            ["receipt": "", "latest_receipt_info": list], ["transaction_id": "5", "original_transaction_id": ""],
            ["product_id": "p", "transaction_id": "7", "price": "1.99"], ["receipt": "", "response": ""],
            ["store": "PLAY_STORE", "product_id": "p", "transaction_id": "7"], ["order_id": "GPA.1-2", "receipt": ""],
            ["history": "[\"\(a)\",\"\(b)\"]", "receipt": ""], ["receipt": "see ticket 4711", "response": reply],
        ]
        for row in rows {
            let names = row.keys.sorted()
            let fields = names.map { "\"" + (row[$0] ?? "").replacing("\"", with: "\"\"") + "\"" }
            let table = Reading("\(names.joined(separator: ","))\n\(fields.joined(separator: ","))\n", name: "t.csv")
            let object = JSONValue.object(
                JSONObject(members: names.map { .init(key: $0, value: .string(row[$0] ?? "")) }))
            var writer = JSONWriter()
            writer.value(object)
            let lines = Reading(String(decoding: writer.bytes, as: UTF8.self) + "\n", name: "t.ndjson")
            try #require(table.records.count == 1 && lines.records.count == 1, "\(row) \(table.errors)")
            #expect(table.kinds == lines.kinds, "\(row)")
            #expect(table.records[0].carried == lines.records[0].carried, "\(row)")
            #expect(table.records[0].members == lines.records[0].members, "\(row)")
        }
    }

    @Test("an undetectable or absent column is an error that lists the columns")
    func undetectable() throws {
        let none = try #require(failure("user,date\n1,2\n"))
        #expect(none.code == .columnUndetectable)
        #expect(none.message.contains("user, date"))
        #expect(failure("user,date\n1,2\n3,4\n", name: "stdin")?.code == .columnUndetectable)
        let absent = try #require(failure("user,receipt\n1,\(a)\n", options: .init(receiptColumns: ["mine"])))
        #expect(absent.code == .columnNotFound)
        #expect(absent.message.contains("user, receipt"))
    }

    @Test("ids are taken when there is no receipt, the original one first")
    func ids() {
        let reading = Reading("user,transaction_id,original_transaction_id\n1,20,10\n2,21,\n")
        #expect(reading.kinds == ["id 10", "id 21"])
        #expect(reading.records[0].carried("transaction_id") == .text("20"))
    }

    @Test("a column of ids without a name is not guessed: the message says with which options it is read")
    func unnamedIDs() throws {
        let ids = (1...4).map { "100000123456789\($0)" }
        let rows = ids.enumerated().map { "user\($0),\($1),\($0)" }.joined(separator: "\n") + "\n"
        let numbered = InputOptions(table: TableOptions(hasHeader: false))
        for (name, options) in [("t.csv", InputOptions()), ("stdin", InputOptions()), ("t.csv", numbered)] {
            let error = try #require(failure(rows, name: name, options: options))
            #expect(error.code == .columnUndetectable)
            #expect(error.message.contains("The columns are: column 1, column 2, column 3. "))
            #expect(error.message.hasSuffix("If they are, name the column: --no-header --column 2."))
        }
        let named = Reading(
            rows, options: InputOptions(receiptColumns: ["column 2"], table: TableOptions(hasHeader: false)))
        #expect(named.kinds == ids.map { "id \($0)" })
        let header = try #require(failure("user,purchase,n\n" + rows))
        #expect(header.message.hasSuffix("in: purchase. If they are, name the column: --column purchase."))
        // Shorter numbers are everywhere.
        let short = try #require(failure(rows.replacing("100000123456789", with: "1000001")))
        #expect(!short.message.contains("transaction ids"))
    }

    @Test("a table of one column of ids is a list of ids")
    func listOfIDs() {
        let ids = (1...4).map { "100000123456789\($0)" }
        let numbered = InputOptions(table: TableOptions(hasHeader: false))
        for options in [InputOptions(), InputOptions(format: .csv), numbered] {
            for name in ["ids.csv", "ids.txt"] {
                let reading = Reading(ids.joined(separator: "\n"), name: name, options: options)
                #expect(reading.errors.isEmpty && reading.kinds == ids.map { "id \($0)" })
            }
        }
    }

    @Test("a table without header is read from its first row")
    func noHeader() {
        let reading = Reading("42,\(a)\n43,\(b)\n")
        #expect(reading.receipts == [a, b])
        #expect(reading.places == ["input, row 1", "input, row 2"])
        #expect(reading.records[0].carried == [.init(name: "column 1", value: .text("42"))])
    }

    @Test("a row of another width than the header is a problem, since its columns have moved")
    func width() {
        #expect(
            Reading("u,receipt\n1,\(a)\n1,x,\(a)\n\(a)\n2,\(b)\n").kinds == [
                "receipt", "columnCount", "columnCount", "receipt",
            ])
    }

    @Test("a header that occurs again is no record, and gives the rows after it the order of its columns")
    func repeatedHeader() {
        let text = """
            user_id,receipt,note
            u1,\(a),x
            user_id,receipt,note
            u2,\(b),y
            "receipt" , note,"user_id"
            \(b),z,u3
            receipt,note,user
            \u{FEFF}note,user_id,receipt
            w,u4,\(a)

            """
        let reading = Reading(text)
        #expect(reading.kinds == ["receipt", "receipt", "receipt", "unknownForm", "receipt"])
        let users: [CarriedColumn.Value?] = ["u1", "u2", "u3", "user", "u4"].map { .text($0) }
        #expect(reading.records.map { $0.carried("user_id") } == users)
        #expect(reading.records.last?.carried("note") == .text("w"))
        #expect(reading.places == [2, 4, 6, 7, 9].map { "input, row \($0)" })
        #expect(reading.receipts == [a, b, b, "-", a])
    }

    @Test("a header with another order of its columns counts for all rows after it", arguments: [100, 1 << 20])
    func longRepeatedHeader(chunkSize: Int) {
        func part(_ header: String, _ row: (Int) -> String) -> String {
            header + "\n" + (0..<600).map { row($0) + "\n" }.joined()
        }
        let text =
            part("user_id,transaction_id") { "u\($0),\(100 + $0)" }
            + part("transaction_id,user_id") { "\(1_000 + $0),v\($0)" }
        let reading = Reading(text, chunkSize: chunkSize)
        let ids = (0..<600).map { 100 + $0 } + (0..<600).map { 1_000 + $0 }
        #expect(reading.kinds == ids.map { "id \($0)" })
        let names = (0..<600).map { "u\($0)" } + (0..<600).map { "v\($0)" }
        let users: [CarriedColumn.Value?] = names.map { .text($0) }
        #expect(reading.records.map { $0.carried("user_id") } == users)
    }

    @Test("a quote that never closes costs one row")
    func unterminated() {
        let reading = Reading("u,receipt\n1,\(a)\n\"2,\(a)\n3,\(b)\n4,\(b)\n")
        #expect(reading.kinds == ["receipt", "unterminatedQuote", "receipt", "receipt"])
        #expect(reading.places.last == "input, row 5")
        let limited = Reading(
            "u,receipt\n\"2,\(a)\n3,\(b)\n" + String(repeating: "4,\(b)\n", count: 9),
            options: .init(maximumRecordSize: 3000))
        #expect(limited.kinds == ["unterminatedQuote"] + [String](repeating: "receipt", count: 10))
    }

    @Test("a stray quote inside a field is itself")
    func strayQuotes() {
        #expect(Reading("u,receipt\n5\" disk,\(a)\n6,\(b)\n").records[0].carried("u") == .text("5\" disk"))
    }

    @Test("a carried column that is not UTF-8 is carried in base64, and the summary counts it")
    func invalidUTF8() {
        let bytes = Array("u,receipt\nJos".utf8) + [0xE9] + Array(",\(a)\n2,\(b)\n".utf8)
        let reading = Reading([.bytes(bytes, name: "x")])
        #expect(reading.kinds == ["receipt", "receipt"])
        #expect(reading.records.map { $0.carried("u") } == [.text("base64:Sm9z6Q=="), .text("2")])
        #expect(
            reading.records.map { $0.members.first { $0.path == "u" }?.fate } == [.carriedAsBase64, .carriedAlong])
    }

    @Test("null is null where the dialect has one, and empty where it has none")
    func null() {
        let row = "\\N\t\t\(a)\n"
        for dialect in [TableOptions.Dialect.mysql, .postgresql] {
            let options = InputOptions(table: TableOptions(dialect: dialect, delimiter: "\t"))
            let record = Reading("u\tv\treceipt\n" + row, options: options).records.first
            #expect(record?.carried("u") == .json("null"))
            #expect(record?.carried("v") == .text(""))
        }
        let mysql = InputOptions(table: TableOptions(dialect: .mysql, delimiter: ","))
        let quoted = Reading("u,receipt\n\"\\N\",\(a)\n", options: mysql).records.first
        #expect(quoted?.carried("u") == .text("N"))
        let csv = InputOptions(table: TableOptions(dialect: .csv, delimiter: "\t"))
        #expect(Reading("u\tv\treceipt\n" + row, options: csv).records.first?.carried("u") == .text("\\N"))
        let named = Reading("receipt\tu\n\\N\tx\n", options: InputOptions(table: TableOptions(dialect: .postgresql)))
        #expect(named.kinds == ["empty"])
    }

    @Test("prose with commas is no table")
    func prose() {
        #expect(Reading("Hello, world\nThis is text, and, so on\n").kinds == ["unknownForm"])
    }

    @Test("lines that end with a carriage return alone are rows and lines")
    func carriageReturns() {
        let rows = Reading("id,receipt,note\r1,\(a),x\r2,\(b),\"y\rz\"\r")
        #expect(rows.receipts == [a, b])
        #expect(rows.places == ["input, row 2", "input, row 3"])
        #expect(rows.records[1].carried("note") == .text("y\nz"))
        let pieces = Reading([.bytes(Array("id,receipt\r1,\(a)\r2,\(b)".utf8), name: "input")], chunkSize: 7)
        #expect(pieces.receipts == [a, b])
        #expect(Reading("\(a)\r\(b)\r").receipts == [a, b])
        #expect(Reading(Made.wrapped(a, at: 64, lineEnd: "\r")).receipts == [Made.wrapped(a, at: 64)])
        // The bytes of a receipt stay.
        let der = Made.der().filter { $0 != 0x0A } + [0x0D]
        #expect(Reading([.bytes(der, name: "x")]).records.map(\.payload) == [.receipt(der[...])])
    }
}
