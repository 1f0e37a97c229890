import ReceiptMigration
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

    @Test("each delimiter is detected", arguments: [",", ";", "\t"])
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

    @Test("JSON in a quoted field is recognised")
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
        #expect(Reading("id,one,two\n1,\(a),\(b)\n", options: .init(receiptColumn: "two")).receipts == [b])
        #expect(Reading("receipt\n\(a)\n\(b)\n").receipts == [a, b])
        #expect(Reading("\"receipt\"\n\"\(a)\"\n").receipts == [a])
    }

    @Test("of two named columns the one with content is taken, with content in both it is an error")
    func twoColumns() throws {
        #expect(Reading("receipt,latest_receipt\n,\(a)\n").receipts == [a])
        let ambiguous = try #require(failure("u,receipt,latest_receipt\n1,\(a),\(b)\n"))
        #expect(ambiguous.code == .columnAmbiguous)
        #expect(ambiguous.message.contains("receipt, latest_receipt"))
    }

    @Test("an undetectable or absent column is an error that lists the columns")
    func undetectable() throws {
        let none = try #require(failure("user,date\n1,2\n"))
        #expect(none.code == .columnUndetectable)
        #expect(none.message.contains("user, date"))
        #expect(failure("user,date\n1,2\n3,4\n", name: "stdin")?.code == .columnUndetectable)
        let absent = try #require(failure("user,receipt\n1,\(a)\n", options: .init(receiptColumn: "mine")))
        #expect(absent.code == .columnNotFound)
        #expect(absent.message.contains("user, receipt"))
    }

    @Test("ids are taken when there is no receipt, the original one first")
    func ids() {
        let reading = Reading("user,transaction_id,original_transaction_id\n1,20,10\n2,21,\n")
        #expect(reading.kinds == ["id 10", "empty"])
        #expect(reading.records[0].carried("transaction_id") == .text("20"))
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

    @Test("a carried column that is not UTF-8 is a problem of its row")
    func invalidUTF8() {
        let bytes = Array("u,receipt\n".utf8) + [0xE9] + Array(",\(a)\n2,\(b)\n".utf8)
        #expect(Reading([.bytes(bytes, name: "x")]).kinds == ["invalidUTF8", "receipt"])
    }

    @Test("prose with commas is no table")
    func prose() {
        #expect(Reading("Hello, world\nThis is text, and, so on\n").kinds == ["unknownForm"])
    }
}
