import AppStoreModels
import Migration
import Testing

@Suite("Stored forms are recognized")
struct PayloadTests {
    private func one(_ text: String, options: InputOptions = InputOptions()) throws -> InputRecord {
        let reading = Reading(text, options: options)
        try #require(reading.errors.isEmpty)
        try #require(reading.records.count == 1)
        return reading.records[0]
    }

    private func member(_ json: String) throws -> InputRecord { try one("{\"user_id\":42,\"data\":\(json)}") }

    private func quoted(_ text: String) -> String {
        "\""
            + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
            .replacing("\t", with: "\\t") + "\""
    }

    @Test("a bare base64 receipt, DER, BER and property list")
    func bareReceipts() throws {
        for receipt in [Made.receipt(), Made.berReceipt(), Made.plistReceipt] {
            let record = try one(receipt + "\n")
            #expect(record.payload.kind == "receipt")
            #expect(record.payload.receiptText == receipt)
        }
    }

    @Test("raw DER is given with every byte, also when it ends in white space")
    func rawDER() {
        let der = Made.der().dropLast() + [0x0A]
        let reading = Reading([.bytes(Array(der), name: "receipt")])
        #expect(reading.records.map(\.payload) == [.receipt(Array(der)[...])])
        #expect(reading.places == ["receipt"])
    }

    @Test("property list text, OpenStep and XML, is one record")
    func propertyListText() throws {
        for text in [
            Made.propertyList, "<?xml version=\"1.0\"?>\n<plist><dict>\n</dict></plist>",
            "{ signature = abc;\n pod = 2; }",
        ] {
            let record = try one(text)
            #expect(record.payload.receiptText == text)
            #expect(record.place.unit == .file)
        }
    }

    @Test("bytes as Python prints them are what is in the quotes")
    func bytesLiteral() throws {
        for content in [Made.receipt(), Made.jws] {
            for text in ["b'\(content)'", "b\"\(content)\""] {
                #expect(try one(text).payload.receiptText == content)
                #expect(try one("{\"receipt\":\(quoted(text))}").payload.receiptText == content)
            }
        }
        #expect(try one("b'not a receipt'").payload.kind == "unknownForm")
    }

    @Test("a text with quotes that PHP or Python wrote is read in any column", arguments: ["body", "note"])
    func quotedTexts(column: String) throws {
        let receipt = Made.receipt()
        for text in ["s:\(receipt.utf8.count):\"\(receipt)\";", "b\"\(receipt)\"", "b'\(receipt)'"] {
            let row = Reading("id,\(column)\n1,\"\(text.replacing("\"", with: "\"\""))\"\n", name: "t.csv")
            #expect(row.receipts == [receipt], "\(text.prefix(10))")
            #expect(try one("{\"id\":1,\"\(column)\":\(quoted(text))}").payload.receiptText == receipt)
        }
    }

    @Test("a buffer of Node.js in any column of a SQL dump is a trace of a document")
    func buffersInDumps() {
        for separator in [",", ", "] {
            let numbers = Made.der().map { String($0) }.joined(separator: separator)
            let dump = """
                -- MySQL dump 10.13

                CREATE TABLE `t` (
                  `id` int,
                  `body` text
                );
                INSERT INTO `t` VALUES (1,'{"type":"Buffer","data":[\(numbers)]}');

                """
            #expect(Reading(dump, name: "t.sql").kinds == ["receipt"])
        }
    }

    @Test("a buffer that Node.js wrote as JSON is its bytes")
    func buffers() throws {
        let receipt = Made.receipt()
        for content in [Made.der(), Array(receipt.utf8), Array(Made.jws.utf8)] {
            let numbers = content.map { String($0) }.joined(separator: ",")
            let pretty = "{ \"type\" : \"Buffer\",\n\"data\": [ \(numbers.replacing(",", with: ",\n ")) ] }"
            let reordered = "{\"data\":[\(numbers)],\"type\":\"Buffer\"}"
            let prettyReordered = "{\n \"data\" : [\n\(numbers) ] ,\n \"type\": \"Buffer\"\n}"
            for buffer in ["{\"type\":\"Buffer\",\"data\":[\(numbers)]}", pretty, reordered, prettyReordered] {
                let kind = content == Array(Made.jws.utf8) ? "jws" : "receipt"
                #expect(try one(buffer).payload.kind == kind)
                let inside = try member(buffer)
                let expected: InputPayload = kind == "jws" ? .jws(content[...]) : .receipt(content[...])
                #expect(inside.payload == expected)
                #expect(inside.carried("user_id") == .json("42"))
                #expect(try member(quoted(buffer)).payload.kind == kind)
                let row = Reading("id,data\n1,\"\(buffer.replacing("\"", with: "\"\""))\"\n", name: "t.csv")
                #expect(row.kinds == [kind])
            }
        }
        for other in ["[48,130,256]", "[48,130]", "[48,-1]", "[4800]", "[]", "[48,130],\"more\":1"] {
            let record = try member("{\"type\":\"Buffer\",\"data\":\(other)}")
            #expect(record.payload.kind == "unknownForm", "\(other)")
        }
        let numbers = Made.der().map { String($0) }.joined(separator: ",")
        for other in [
            "{\"data\":[\(numbers)]}", "{\"data\":[\(numbers)],\"type\":\"Uint8Array\"}",
            "{\"data\":[\(numbers)],\"type\":\"Buffer\",\"more\":1}",
        ] {
            #expect(try member(other).payload.kind == "unknownForm", "\(other.suffix(20))")
        }
    }

    @Test("a text that PHP serialized is the text; other values of PHP and YAML are named as such")
    func serialized() throws {
        for content in [Made.receipt(), Made.jws, Made.wrapped(Made.receipt(), at: 76)] {
            let text = "s:\(content.utf8.count):\"\(content)\";"
            #expect(try one("{\"receipt\":\(quoted(text))}").payload.receiptText == content)
            #expect(try member(quoted(text)).payload.receiptText == content)
            let row = Reading("id,data\n1,\"\(text.replacing("\"", with: "\"\""))\"\n", name: "t.csv")
            #expect(row.receipts == [content])
        }
        let receipts = (1...4).map { Made.receipt($0) }
        let lines = receipts.map { "s:\($0.utf8.count):\"\($0)\";" }.joined(separator: "\n")
        #expect(Reading(lines).receipts == receipts)
        #expect(try one("s:-1:\";").payload.kind == "unknownForm")
        let (receipt, count) = (receipts[0], receipts[0].utf8.count)
        let others: [(String, String)] = [
            ("a:2:{s:7:\"receipt\";s:\(count):\"\(receipt)\";s:4:\"user\";i:7;}", "PHP serialized"),
            ("O:8:\"stdClass\":1:{s:7:\"receipt\";s:\(count):\"\(receipt)\";}", "PHP serialized"),
            ("s:\(count - 1):\"\(receipt)\";", "PHP serialized"),
            ("---\nreceipt: \(receipt)\nuser: 7\n", "YAML"), ("--- !ruby/object:Receipt\ndata: \(receipt)\n", "YAML"),
        ]
        for (text, name) in others {
            for record in [try one(text), try one("{\"receipt\":\(quoted(text))}")] {
                guard case .unrecognized(let problem) = record.payload else {
                    Issue.record("\(text.prefix(20)) is \(record.payload.kind)")
                    continue
                }
                #expect(problem.code == .unknownForm && problem.message.contains(name))
            }
        }
    }

    @Test("hexadecimal as databases and NSData print it is decoded")
    func hexadecimal() throws {
        let pairs = Made.der().map { Printable.hex([$0]) }
        let hex = pairs.joined()
        for text in [
            "\\x" + hex, "0x" + hex, "0X" + hex, hex, hex.uppercased(), "X'\(hex)'", "x'\(hex)'",
            pairs.joined(separator: " "), pairs.joined(separator: ":"), Made.wrapped(hex, at: 60),
            Made.wrapped(pairs.joined(separator: ":"), at: 45), "<\(Made.wrapped(hex, at: 8, lineEnd: " "))>",
        ] {
            let expected = InputPayload.receipt(Made.der()[...])
            #expect(try one(text).payload == expected, "\(text.prefix(20))")
            #expect(try member(quoted(text)).payload == expected, "\(text.prefix(20))")
            #expect(try one("{\"receipt\":\(quoted(text))}").payload == expected)
        }
        let lines = Reading(Made.wrapped(pairs.joined(separator: " "), at: 48, lineEnd: "\r\n") + "\r\n")
        #expect(lines.records.map(\.payload) == [.receipt(Made.der()[...])])
        #expect(Reading("\(hex)\n\(hex)\n").kinds == ["receipt", "receipt"])
    }

    @Test(
        "hexadecimal and base64 text that does not begin like a document is the caller's own",
        arguments: [
            "0x52908400098527886E0F7030069857D2E4169EE7", "3082019f8a7b6c5d4e3f2a1b0c9d8e7f",
            "\\\\x52908400098527886e0f7030069857d2", "30820000-1d3b-4c5e-8f70-0123456789ab",
            "X'52908400098527886e0f7030069857d2'", "WyJhIiwiYiIsImMiLCJkIiwiZSJd",
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "100%25+of+the+text",
        ])
    func noEncodings(text: String) throws {
        let record = try one("{\"id\":\"\(text)\",\"receipt\":\"\(Made.receipt())\"}")
        #expect(record.payload.kind == "receipt")
        #expect(record.payload.receiptText == Made.receipt())
        #expect(record.carried.map(\.name) == ["id"])
    }

    /// The text with the characters of base64 that a URL cannot have percent-encoded.
    private func percent(_ text: String) -> String {
        text.replacing("+", with: "%2B").replacing("/", with: "%2f").replacing("=", with: "%3D")
    }

    @Test("a receipt that is percent-encoded or in a data: URL is decoded, in a record, a member and a table")
    func encodings() throws {
        let receipt = Made.receipt(3, size: 701) + "+/+/"
        for text in [
            percent(receipt), "data:application/octet-stream;base64,\(receipt)", "data:;base64,\(percent(receipt))",
        ] {
            let record = try one(text)
            #expect(record.payload == .receipt(Array(receipt.utf8)[...]))
            #expect(record.carried.isEmpty)
            #expect(try member(quoted(text)).payload.receiptText == receipt)
            #expect(try one("{\"receipt\":\"\(text)\"}").payload.receiptText == receipt)
            #expect(try one("{\"receipt\":\"\(text.replacing("/", with: "\\/"))\"}").payload.receiptText == receipt)
            #expect(Reading("\(text)\n\(text)\n").receipts == [receipt, receipt])
            for name in ["receipt", "blob"] {
                let table = Reading("id,\(name)\n1,\"\(text)\"\n2,\(Made.receipt())\n", name: "t.csv")
                #expect(table.receipts == [receipt, Made.receipt()])
            }
        }
    }

    @Test("a form body gives its receipt and never its password, in any order of its members")
    func formBody() throws {
        let receipt = Made.receipt(3)
        for text in [
            "receipt-data=\(percent(receipt))&password=secret&exclude-old-transactions=true&user=Jo+Doe",
            "user=Jo%20Doe&password=secret&receipt-data=\(receipt)",
        ] {
            let record = try one(text)
            #expect(record.payload.receiptText == receipt)
            #expect(record.carried == [.init(name: "user", value: .text("Jo Doe"))])
            let inside = try member(quoted(text))
            #expect(inside.payload.receiptText == receipt)
            #expect(
                inside.carried == [
                    .init(name: "user_id", value: .json("42")), .init(name: "data.user", value: .text("Jo Doe")),
                ])
            #expect(inside.members.first { $0.path == "data.password" }?.fate == .ignored)
            let table = Reading("id,body\n1,\(text)\n", name: "t.csv")
            #expect(table.receipts == [receipt])
        }
        #expect(try one("error=timeout&code=5 while sending receipt-data=abc").payload.kind == "unknownForm")
    }

    @Test("base64 of JSON is read as the JSON, once")
    func base64JSON() throws {
        let receipt = Made.receipt(3)
        let request = "{\"receipt-data\":\"\(receipt)\",\"password\":\"secret\"}"
        let wrapper = "{ \"Store\": \"AppleAppStore\", \"TransactionID\": \"1\", \"Payload\": \"\(receipt)\" }"
        for (json, kind) in [
            (Made.reply, "reply"), (request, "receipt"), (wrapper, "receipt"),
            ("{\"receipt\":\"\(receipt)\",\"response\":\(Made.reply)}", "pair"),
            ("[{\"receipt\":\"\(receipt)\"}]", "receipt"), ("[\(Made.row)]", "transactions"),
        ] as [(String, String)] {
            let text = Made.base64(Array(json.utf8))
            #expect(try one(text).payload.kind == kind)
            if json.hasPrefix("{") { #expect(try one(Made.wrapped(text, at: 76)).payload.kind == kind) }
            #expect(try member(quoted(text)).payload.kind == kind)
            #expect(try one("{\"receipt\":\"\(text)\"}").payload.kind == kind)
            #expect(Reading("id,blob\n1,\(text)\n", name: "t.csv").kinds == [kind])
            guard kind == "receipt" else { continue }
            #expect(try one(text).payload.receiptText == receipt)
            #expect(try member(quoted(text)).payload.receiptText == receipt)
            #expect(try one("{\"receipt\":\"\(text)\"}").payload.receiptText == receipt)
            #expect(Reading("id,blob\n1,\(text)\n", name: "t.csv").receipts == [receipt])
        }
        let once = Made.base64(Array(request.utf8))
        let twice = Made.base64(Array("{\"receipt\":\"\(once)\"}".utf8))
        #expect(try one(twice).payload.receiptText == once)
        for json in [request, "[\(request)]"] {
            let text = Made.base64(Array(Made.base64(Array(json.utf8)).utf8))
            #expect(try one(text).payload.receiptText == receipt)
            #expect(try member(quoted(text)).payload.receiptText == receipt)
        }
        // The JSON form of the property list of iOS 6.
        let plist = Made.base64(Array(#"{"signature":"AiOw","purchase-info":"ewoJ","pod":"100"}"#.utf8))
        #expect(try one(plist).payload.receiptText == plist)
    }

    @Test("a receipt that was encoded twice is decoded once")
    func encodedTwice() throws {
        for receipt in [Made.receipt(), Made.plistReceipt] {
            let text = Made.base64(Array(receipt.utf8))
            #expect(try one(text).payload.receiptText == receipt)
            #expect(try member(quoted(text)).payload.receiptText == receipt)
        }
    }

    @Test("the JSON in a line of a log is read, also the response beside the request")
    func logLines() throws {
        let begin = "2024-01-01T00:00:00Z POST /verifyReceipt"
        let lines = (1...3).map { "\(begin) {\"receipt-data\":\"\(Made.receipt($0))\",\"password\":\"secret\"} 200" }
        let reading = Reading(lines.joined(separator: "\n"))
        #expect(reading.kinds == ["receipt", "receipt", "receipt"])
        #expect(reading.receipts == (1...3).map { Made.receipt($0) })
        #expect(reading.places.last == "input, line 3")
        let carriesNothing = reading.records.allSatisfy(\.carried.isEmpty)
        #expect(carriesNothing)
        let both = Reading("\(begin) ok\n\(lines[0]) -> \(Made.reply)\n")
        #expect(both.kinds == ["unknownForm", "pair"])
        let cut = lines.map { String($0.prefix(400)) }
        #expect(Reading(cut.joined(separator: "\n")).kinds == ["unknownForm", "unknownForm", "unknownForm"])
    }

    @Test("a line of a log may begin with a bracket or with the JSON; one that is cut short is not read in part")
    func logLinesLikeJSON() throws {
        let request = "{\"receipt-data\":\"\(Made.receipt())\",\"password\":\"secret\"}"
        for line in [
            "[2024-01-01 00:00:00] POST \(request)", "[info] [7] POST \(request) 200", "\(request) 200 35ms",
            "\"POST /verifyReceipt\" \(request)",
        ] {
            #expect(try one(line).payload.receiptText == Made.receipt(), "\(line.prefix(30))")
        }
        for (begin, end) in [("[2024-01-01 00:00:00,123] POST ", ""), ("[7] POST ", ",200"), ("", " 200 35ms")] {
            let lines = (1...3).map { "\(begin){\"receipt-data\":\"\(Made.receipt($0))\"}\(end)" }
            let reading = Reading(lines.joined(separator: "\n"))
            #expect(reading.receipts == (1...3).map { Made.receipt($0) })
            #expect(reading.places.last == "input, line 3")
        }
        #expect(try one("[[\(request),{\"receipt-data\":\"MII").payload.kind == "invalidJSON")
        #expect(try one("{\"first\":\(request),\"second\":{\"receipt-data\":\"MII").payload.kind == "invalidJSON")
    }

    @Test("the text of a log around the JSON counts if it holds a document; the number of objects has no limit")
    func logLinesWithMore() throws {
        let request = "{\"receipt-data\":\"\(Made.receipt())\"}"
        let record = try one("POST \(request) after \(Made.receipt(2)) failed")
        #expect(record.payload.receiptText == Made.receipt())
        #expect(record.members.contains { $0.path == "(record)" && $0.fate == .looksLikeDocument })
        #expect(try !one("POST \(request) 200").members.contains { $0.fate == .looksLikeDocument })
        let inMember = try member(quoted("POST \(request) after \(Made.receipt(2)) failed"))
        #expect(inMember.members.contains { $0.path == "data" && $0.fate == .looksLikeDocument })
        let many = (1...20).map { "{\"receipt-data\":\"\(Made.receipt($0))\"}" }.joined(separator: " ")
        #expect(try one("POST \(many)").payload.documents.count == 20)
    }

    @Test("JSON with escapes in quotes is read in a line of a log, as logfmt writes it; one that is cut short is not")
    func logfmt() throws {
        func escaped(_ text: String) -> String { text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") }
        let requests = (1...3).map { #"{"receipt-data":"\#(Made.receipt($0))","password":"it's \"secret\""}"# }
        let lines = requests.map { "time=2024-01-01T00:00:00Z level=info msg=\"\(escaped($0))\" status=200" }
        let reading = Reading(lines.joined(separator: "\n") + "\n")
        #expect(reading.kinds == ["receipt", "receipt", "receipt"])
        #expect(reading.receipts == (1...3).map { Made.receipt($0) })
        #expect(reading.places.last == "input, line 3")
        let request = requests[0]
        for line in [
            #"msg="POST: \#(escaped(request))" key="a \"b\"""#, #"screen=5" body="\#(escaped(request))""#,
            #"msg="\x1b[32mPOST\x1b[0m \a\v\' \#(escaped(request))""#, #"a="x" body=\#(escaped(request)) b="y""#,
            #"msg="body \"\#(escaped(escaped(request)))\"""#, #"msg="{\n  \#(escaped(String(request.dropFirst())))""#,
            #"msg="regex {\d+}" body="\#(escaped(request))""#, #"{"a":1} 200 msg="\#(escaped(request))""#,
        ] {
            let record = try one(line)
            let receipts = record.payload.documents.compactMap(\.payload.receiptText)
            #expect(receipts == [Made.receipt()], "\(line.prefix(40))")
            #expect(!record.members.contains { $0.fate == .looksLikeDocument })
        }
        for both in ["POST \(request)", "request=\"\(escaped(request))\""] {
            #expect(try one("\(both) reply=\"\(escaped(Made.reply))\"").payload.kind == "pair")
        }
        #expect(try member(quoted(lines[0])).payload.receiptText == Made.receipt())
        let unread = try one("\(lines[0]) other=\"\(Made.receipt(2)) \\\"\"")
        #expect(unread.payload.receiptText == Made.receipt())
        #expect(unread.members.contains { $0.path == "(record)" && $0.fate == .looksLikeDocument })
        for damaged in [
            String(lines[0].prefix(400)), #"msg="\#(escaped(request).prefix(300))" status=200"#,
            #"msg="\xe9 \#(escaped(request))""#, "x " + String(repeating: "{\\\"", count: 100) + Made.receipt(),
        ] {
            #expect(try one(damaged).payload.kind == "unknownForm", "\(damaged.prefix(40))")
        }
    }

    @Test("the JSON in a text of a record is read, in a member and in a column")
    func textsWithJSON() throws {
        let request = "{\"receipt-data\":\"\(Made.receipt())\",\"password\":\"secret\"}"
        let text = "verifyReceipt request: \(request)"
        let record = try one("{\"ts\":7,\"message\":\(quoted(text))}")
        #expect(record.payload.receiptText == Made.receipt())
        #expect(record.carried == [.init(name: "ts", value: .json("7"))])
        #expect(record.members.contains { $0.path == "message.receipt-data" && $0.fate == .readAsReceipt })
        #expect(record.members.contains { $0.path == "message.password" && $0.fate == .ignored })
        #expect(try member(quoted("\(text) reply: \(Made.reply)")).payload.kind == "pair")
        #expect(try member(quoted("reply: {\n  \(Made.reply.dropFirst())")).payload.kind == "reply")
        #expect(try member(quoted("[info] \(text)")).payload.receiptText == Made.receipt())
        #expect(try member(quoted("rows: \(Made.row)")).payload.kind == "transactions")
        #expect(try member(quoted("{\"message\":\(quoted(text))}")).payload.receiptText == Made.receipt())
        let field = "\"\(text.replacing("\"", with: "\"\""))\""
        for name in ["t.csv", "t.txt"] {
            let table = Reading("ts,message\n7,\(field)\n", name: name)
            #expect(table.receipts == [Made.receipt()])
            #expect(table.records.first?.carried == [.init(name: "ts", value: .text("7"))])
        }
    }

    @Test("JSON in a text of a record that any program may write is not read, and stays")
    func textsWithOtherJSON() throws {
        let answers = "answers: {\"status\":500} {\"status\":21002} {\"payload\":\"abcdefghijklmnop1234\"}"
        let record = try one("{\"receipt\":\"\(Made.receipt())\",\"message\":\(quoted(answers))}")
        #expect(record.payload.kind == "receipt")
        #expect(record.carried == [.init(name: "message", value: .text(answers))])
        #expect(try member(quoted(answers)).payload.kind == "unknownForm")
        #expect(try member(quoted("look up {\"transaction_id\":\"5\"}")).payload.kind == "unknownForm")
    }

    @Test("a text beside a row does not replace the row, unless what it contains is signed")
    func textsBesideRows() throws {
        func row(_ more: String) -> String { "{\"product_id\":\"p\",\"transaction_id\":\"5\",\(more)}" }
        let reply = "\"log\":\(quoted("reply: \(Made.reply)"))"
        let record = try one(row(reply))
        #expect(record.payload.kind == "transactions")
        #expect(record.members.contains { $0.path == "log" && $0.fate == .looksLikeDocument })
        #expect(record.carried("log") == .text("reply: \(Made.reply)"))
        #expect(try one(row("\"meta\":{\(reply)}")).payload.kind == "transactions")
        let signed = try one(row("\"log\":\(quoted("request: {\"receipt-data\":\"\(Made.receipt())\"}"))"))
        #expect(signed.payload.receiptText == Made.receipt())
        #expect(signed.carried("transaction_id") == .text("5"))
        let several = try one("{\"user\":1,\"purchases\":[\(row(reply)),\(row(reply))]}")
        guard case .transactions(let rows) = several.payload else {
            Issue.record("\(several.payload.kind)")
            return
        }
        #expect(rows.array?.count == 2)
        #expect(several.members.contains { $0.path == "purchases[].log" && $0.fate == .looksLikeDocument })
    }

    @Test("an array of PostgreSQL is read as its elements")
    func postgreSQLArrays() throws {
        let (a, b) = (Made.receipt(1), Made.receipt(2, size: 702))
        let hex = "\\\\x" + Printable.hex(Made.der())
        let json = "{\\\"receipt-data\\\":\\\"\(a)\\\",\\\"password\\\":\\\"s\\\"}"
        for (array, kind) in [
            ("{\(a)}", "receipt"), ("{\(b),\(a),NULL}", "receipt+receipt"),
            ("{\(a),\"\(Made.wrapped(b, at: 76))\"}", "receipt+receipt"),
            ("{\"\(hex)\"}", "receipt"), ("{\"\(json)\",\(Made.jws)}", "receipt+jws"),
        ] {
            #expect(try member(quoted(array)).payload.kind == kind)
        }
        #expect(try one("{1000000000000001}").payload == .transactionID("1000000000000001"))
        let table = Reading("id\treceipts\n1\t{\(a),\(b)}\n", name: "t.tsv")
        #expect(table.kinds == ["receipt+receipt"])
        for other in ["{}", "{a,}", "{a b}", "{{a},{b}}", "{\"a\",b"] {
            #expect(try member(quoted(other)).payload.kind == "unknownForm", "\(other)")
        }
    }

    @Test("of many elements of an array that are no documents, all but the first are kept together")
    func manyElements() throws {
        let count = 20_000
        func elements(_ text: String) -> String { String(repeating: ",\(text)", count: count) }
        let receipt = Made.receipt()
        for array in [
            quoted("{\(receipt)\(elements("M"))}"), "[\"\(receipt)\"\(elements("0"))]",
            "[\(Made.row)\(elements("{}"))]",
        ] {
            let record = try member(array)
            let documents = record.payload.documents
            #expect(documents.count == 1 + InputLimits.otherElements + 1)
            #expect(documents.contains { $0.payload.kind == "receipt" || $0.payload.kind == "transactions" })
            #expect(record.members.count <= InputLimits.memberPaths + 5)
        }
        let nulls = try member(quoted("{\(receipt)\(elements("NULL"))}"))
        #expect(nulls.payload.kind == "receipt")
        #expect(nulls.members.count <= InputLimits.memberPaths + 5)
        #expect(nulls.members.contains { $0.path == "data[]" && $0.fate == .empty })
    }

    @Test("ids of the App Store beside documents of an array are kept one by one, however many there are")
    func manyIds() throws {
        let ids = (0..<5_000).map { ",\"\(530_001_234_560_000 + $0)\"" }.joined()
        for array in ["[\(Made.row)\(ids)]", "[\"\(Made.receipt())\"\(ids)]"] {
            let documents = try member(array).payload.documents
            #expect(documents.count == 5_001)
            #expect(documents.count { $0.payload.kind.hasPrefix("id ") } == 5_000)
        }
    }

    @Test("texts of a few bytes that begin like receipts are not documents without limit")
    func tinyDocuments() throws {
        func list(_ count: Int) -> String { Array(repeating: "MIAG", count: count).joined(separator: ",") }
        #expect(try member(quoted("{\(list(1_000))}")).payload.documents.count == 1_000)
        let lists = Array(repeating: "[\"MIAG\",\"MIAG\"]", count: 50_000).joined(separator: ",")
        for array in [quoted("{\(list(100_000))}"), "[\(lists)]"] {
            let record = try member(array)
            #expect(record.payload.kind == "tooManyColumns")
            #expect(record.carried("user_id") == .json("42"))
        }
    }

    @Test("columns are not copied beside many documents without limit", arguments: [1, 2, 3])
    func columnsBesideDocuments(depth: Int) throws {
        func record(_ columns: Int) throws -> InputRecord {
            let names = (0..<columns).map { "\"c\($0)\":1," }.joined()
            let documents = Array(repeating: "\"\(Made.jws)\"", count: 1_000).joined(separator: ",")
            return try one((0..<depth).reduce("[\(documents)]") { inner, _ in "{\(names)\"data\":\(inner)}" })
        }
        let (few, many) = (try record(10), try record(1_000))
        #expect(few.payload.documents.count == 1_000)
        #expect(few.payload.documents.allSatisfy { $0.carried.count == 10 * (depth - 1) })
        #expect(few.carried.count == 10)
        #expect(many.payload.kind == "tooManyColumns")
        #expect(many.payload.documents.isEmpty)
    }

    @Test("the purchases of a user with many fields are read, also in objects around the user", arguments: 0...3)
    func manyFieldsBesidePurchases(depth: Int) throws {
        let text = String(repeating: "note ", count: 56)
        let purchases = (0..<300).map { "\"p\($0)\":{\"row\":\(Made.row),\"text\":\"\(text)\"}" }
        let fields = (0..<300).map { "\"name of field \($0)\":\"value \($0)\"," }.joined()
        let user = "{\(fields)\"purchases\":{\(purchases.joined(separator: ","))}}"
        let record = try one((0..<depth).reduce(user) { inner, level in "{\"object \(level)\":\(inner)}" })
        let documents = record.payload.documents
        #expect(documents.count == 300)
        let path = (0..<depth).reversed().map { "object \($0)." }.joined()
        for document in [documents.first, documents.last] {
            let columns = record.carried + (document?.carried ?? [])
            #expect(columns.count == 301)
            #expect(columns.contains(CarriedColumn(name: "\(path)name of field 299", value: .text("value 299"))))
        }
    }

    @Test("documents that a text joins with commas, semicolons, line feeds or blanks are read one by one")
    func joinedDocuments() throws {
        let (a, b) = (Made.receipt(1), Made.receipt(2, size: 702))
        for separator in [",", ";", "\n", "\t", " ", ", ", " ; ", ",\n", "\n\n"] {
            for documents in [[a, b], [b, Made.plistReceipt, a], [Made.jws, a], [a, Made.jws, Made.jws + "A"]] {
                let record = try member(quoted(documents.joined(separator: separator)))
                let expected: [String?] = documents
                #expect(record.payload.documents.map(\.payload.receiptText) == expected, "\(separator)")
                #expect(record.payload.documents.allSatisfy { $0.path == "data[]" })
            }
            let lines = try member(quoted(Made.wrapped(a, at: 64) + separator + Made.wrapped(b, at: 64)))
            #expect(lines.payload.kind == "receipt+receipt")
        }
        let table = Reading("id,receipts\n1,\"\(a),\(b)\"\n", name: "t.csv")
        #expect(table.kinds == ["receipt+receipt"])
        #expect(try one("{\"receipt\":\"\(a);NULL;;\(b);\"}").payload.kind == "receipt+receipt")
        // What is no document is quarantined alone.
        #expect(try member(quoted("\(a),\(b),see ticket 4711")).payload.kind == "receipt+receipt+unknownForm")
    }

    private func unpadded(_ base64: String) -> String { base64.filter { $0 != "=" } }

    @Test("a comma or semicolon after a receipt in base64 or a JWS is no part of it")
    func listItems() throws {
        let documents = [
            Made.receipt(), Made.berReceipt(), Made.plistReceipt, Made.wrapped(Made.receipt(), at: 76), Made.jws,
            // Without the padding of one byte or two, so that the text after it can have the length of the padding.
            unpadded(Made.receipt(size: 700)), unpadded(Made.receipt(size: 699)),
        ]
        #expect(documents.suffix(2).map { $0.utf8.count % 4 } == [3, 2])
        for document in documents {
            for end in [",", ";", " ,", ",\n"] {
                let text = document + end
                #expect(try one("{\"receipt\":\(quoted(text))}").payload.receiptText == document, "\(text.prefix(9))")
                #expect(try member(quoted(text)).payload.receiptText == document, "\(text.prefix(9))")
                #expect(Reading("id,data\n1,\"\(text)\"\n", name: "t.csv").receipts == [document])
            }
        }
        let lines = Reading("\(Made.receipt(1)),\n\(Made.receipt(2));\n", options: InputOptions(format: .lines))
        #expect(lines.receipts == [Made.receipt(1), Made.receipt(2)])
        let json = Made.base64(Array(#"{"receipt-data":"\#(Made.receipt())"}"#.utf8))
        #expect(try member(quoted(json + ",")).payload.receiptText == Made.receipt())
        // Only one, and only at the end.
        for text in ["\(Made.receipt()),,", "\(Made.receipt())!,", ",\(Made.receipt())"] {
            #expect(try one("{\"receipt\":\"\(text)\"}").payload.receiptText != Made.receipt(), "\(text.suffix(3))")
        }
        for text in ["\(Made.jws),,", "eyJhbGciOiJFUzI1NiJ9.eyJ0,", "eyJ."] {
            #expect(try one("{\"receipt\":\"\(text)\"}").payload.kind == "unknownForm", "\(text.suffix(3))")
        }
    }

    private func html(_ text: String, quote: String = "&quot;") -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: quote)
    }

    @Test("a document whose quotes are entities of HTML is read as without them, escaped once or twice")
    func htmlEntities() throws {
        let receipt = Made.receipt()
        let request = "{\"receipt-data\":\"\(receipt)\"}"
        for text in [
            html(request), html(request, quote: "&#34;"), html(request, quote: "&#x22;"), html(html(request)),
            html(request).replacing("=", with: "&#61;").replacing("/", with: "&#x2F;"), html("\"\(receipt)\""),
            html(html("[\(request)]")),
        ] {
            #expect(try member(quoted(text)).payload.receiptText == receipt, "\(text.prefix(20))")
            #expect(try one("{\"receipt\":\"\(text)\"}").payload.receiptText == receipt, "\(text.prefix(20))")
        }
        #expect(try one(html(request)).payload.receiptText == receipt)
        #expect(Reading("\(html(request))\n\(html(request))\n").receipts == [receipt, receipt])
        #expect(Reading("id,data\n1,\(html(request))\n", name: "t.csv").receipts == [receipt])
        #expect(try one(html(Made.reply)).payload.kind == "reply")
        let xml = "<plist version=\"1.0\"><dict></dict></plist>"
        for list in [Made.propertyList, xml] {
            #expect(try member(quoted(html(list))).payload.receiptText == list)
            #expect(try one("{\"receipt\":\(quoted(html(list)))}").payload.receiptText == list)
        }
        #expect(try one(html(Made.propertyList)).payload.receiptText == Made.propertyList)
    }

    @Test("of a record whose quotes are entities of HTML, only the named columns are read")
    func namedColumnWithHTMLEntities() throws {
        let receipt = Made.receipt()
        let options = InputOptions(receiptColumns: ["receipt"])
        let record = "{\"log\":\"\(Made.receipt(2))\",\"receipt\":\"\(receipt)\"}"
        for text in [record, html(record), html(html(record))] {
            let read = try one(text, options: options)
            #expect(read.payload.receiptText == receipt, "\(text.prefix(20))")
            #expect(read.members.contains { $0.path == "log" && $0.fate == .leftOut }, "\(text.prefix(20))")
        }
        let without = html("{\"log\":\"\(receipt)\"}")
        let lines = Reading("\(html(record))\n\(without)\n", options: options)
        #expect(lines.kinds == ["receipt", "missingColumn"])
    }

    @Test("entities of HTML are decoded only where the quotes are entities, and as often as wrappers may be nested")
    func otherEntities() throws {
        let receipt = Made.receipt()
        let record = try one(html("{\"user\":\"A & B &eacute; &quot;\",\"receipt\":\"\(receipt)\"}"))
        #expect(record.payload.receiptText == receipt)
        #expect(record.carried("user") == .text("A & B &eacute; &quot;"))
        let note = "&quot;hi&quot; &amp; more text"
        let plain = try one("{\"user\":\"A &amp; B\",\"note\":\"\(note)\",\"receipt\":\"\(receipt)\"}")
        #expect(plain.carried("user") == .text("A &amp; B"))
        #expect(plain.carried("note") == .text(note))
        // Entities of a property list are its own.
        for list in ["<plist><dict><string>&quot;</string></dict></plist>", "{ signature = a&amp;; pod = 2; }"] {
            #expect(try one("{\"receipt\":\"\(list)\"}").payload.receiptText == list)
        }
        for text in ["{&unknown;}", "[&]"] {
            #expect(try one("{\"receipt\":\"\(text)\"}").payload.kind == "invalidJSON", "\(text)")
        }
        for text in ["{&quot;a&quot;:1}", "&amp;", "&#1114112;&#;&;"] {
            #expect(try one("{\"receipt\":\"\(text)\"}").payload.kind == "unknownForm", "\(text)")
        }
        func escaped(_ count: Int) -> String {
            let quote = "&" + String(repeating: "amp;", count: count) + "quot;"
            return "{\(quote)receipt-data\(quote):\(quote)\(receipt)\(quote)}"
        }
        #expect(try one("{\"receipt\":\"\(escaped(4))\"}").payload.receiptText == receipt)
        #expect(try one("{\"receipt\":\"\(escaped(20))\"}").payload.kind == "nestedTooDeep")
    }

    @Test("a text with white space inside one document is one document", arguments: [20, 24, 64, 76])
    func wrappedDocuments(width: Int) throws {
        let rows = (0..<40).map { "{\"id\":\"\($0)\",\"name\":\"\(String(repeating: "x", count: $0))\"}" }
        let json = "{\"status\":0,\"receipt\":{\"bundle_id\":\"b\",\"in_app\":[\(rows.joined(separator: ","))]}}"
        for (text, kind) in [
            (Made.receipt(), "receipt"), (Made.berReceipt(), "receipt"), (Made.plistReceipt, "receipt"),
            (Made.base64(Array(json.utf8)), "reply"),
        ] {
            for lineEnd in ["\n", " "] {
                #expect(try member(quoted(Made.wrapped(text, at: width, lineEnd: lineEnd))).payload.kind == kind)
            }
        }
        // A line of 64 characters begins with the tag `plist`.
        let xml = """
            <?xml version="1.0" encoding="UTF-8"?>\r
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\r
            <plist version="1.0">\r\n<dict>\r\n<key>signature</key><string>AiOw</string>\r\n</dict>\r\n</plist>\r\n
            """
        let receipt = Made.base64(Array(xml.utf8))
        #expect(try member(quoted(Made.wrapped(receipt, at: width))).payload.kind == "receipt")
        #expect(try member(quoted("\(receipt)\n\(receipt)")).payload.kind == "receipt+receipt")
    }

    @Test("with an option, the keys of an object are a column of the documents in their values")
    func keysAsColumn() throws {
        func users(_ text: String, _ column: String) throws -> [CarriedColumn.Value?] {
            let record = try one(text, options: InputOptions(otherColumns: [column]))
            return record.payload.documents.map { document in
                (record.carried + document.carried).last { $0.name == column }?.value
            }
        }
        let receipts = (1...3).map { Made.receipt($0) }
        let second = "{\"receipts\":[\"\(receipts[1])\",{\"rows\":[\(Made.row)]}]}"
        let object =
            "{\"u1\":{\"receipt\":\"\(receipts[0])\",\"n\":1},\"u2\":\(second),\"u3\":{\"n\":3},\"u4\":\"\(receipts[2])\"}"
        let json = "{\"at\":5,\"users\":\(object)}"
        #expect(try users(json, "users.*") == [.text("u1"), .text("u2"), .text("u2"), .text("u4")])
        #expect(try users(object, "*") == [.text("u1"), .text("u2"), .text("u2"), .text("u4")])
        #expect(try users(json, "others.*") == [nil, nil, nil, nil])
        #expect(try users("{\"users\":{\"u1\":{\"receipt\":\"\(receipts[0])\"}}}", "users.*") == [.text("u1")])
        let ids = "{\"u1\":{\"original_transaction_id\":\"5\"},\"u2\":{\"original_transaction_id\":\"6\"}}"
        #expect(try users("{\"users\":\(ids)}", "users.*") == [.text("u1"), .text("u2")])
        let damaged = "{\"users\":{\"u1\":{\"receipt\":\"\(receipts[0])\"},\"u2\":{\"receipt\":\"nonsense\"}}}"
        #expect(try users(damaged, "users.*") == [.text("u1"), .text("u2")])
        let record = try one(json, options: InputOptions(otherColumns: ["users.*"]))
        #expect(record.carried == [.init(name: "at", value: .json("5"))])
        let members = Set(record.members.map(\.path))
        #expect(members.isSuperset(of: ["at", "users.*", "users.*.receipt", "users.*.n", "users.*.receipts[]"]))
        #expect(!members.contains { $0.contains("u1") })
        let fates = Set(record.members.filter { $0.path == "users.*" }.map(\.fate))
        #expect(fates == [.carriedAlong, .readAsReceipt, .ignored])
    }

    @Test("a named column is in the values of keys that are a column, if what they are in does not have it")
    func namedColumnInKeys() throws {
        let receipts = (1...5).map { Made.receipt($0) }
        let users = """
            {"u1":{"receipt":"\(receipts[0])","log":"\(receipts[1])"},"u2":[{"receipt":"\(receipts[2])"}],\
            "u3":{"log":"\(receipts[3])"},"u4":{}}
            """
        let around = "{\"at\":5,\"data\":{\"users\":\(users)},\"other\":{\"doc\":\"\(receipts[4])\"}}"
        for (text, keys) in [(users, "*"), ("{\"users\":\(users)}", "users.*"), (around, "data.users.*")] {
            let record = try one(text, options: InputOptions(receiptColumns: ["receipt"], otherColumns: [keys]))
            let documents = record.payload.documents
            #expect(documents.map(\.payload.receiptText) == [receipts[0], receipts[2]], "\(keys)")
            let named = documents.map { document in
                (record.carried + document.carried).last { $0.name == keys }?.value
            }
            #expect(named == [.text("u1"), .text("u2")], "\(keys)")
            #expect(record.members.contains { $0.path == keys + ".receipt" && $0.fate == .readAsReceipt })
            #expect(record.members.contains { $0.path == keys + ".log" && $0.fate == .leftOut })
            #expect(record.members.contains { $0.path == keys && $0.fate == .looksLikeDocument })
            guard text == around else { continue }
            #expect(record.carried == [.init(name: "at", value: .json("5"))])
            #expect(record.members.contains { $0.path == "other" && $0.fate == .leftOut })
        }
        let options = InputOptions(receiptColumns: ["receipt"], otherColumns: ["users.*"])
        let itself = "{\"receipt\":\"\(receipts[4])\",\"users\":\(users)}"
        #expect(try one(itself, options: options).payload.receiptText == receipts[4])
        let other = "{\"users\":{\"u1\":{\"log\":\"\(receipts[0])\"}}}"
        #expect(try one(other, options: options).payload.kind == "missingColumn")
        let line = "{\"users\":\(users)}"
        let lines = Reading("\(other)\n\(line)\n", options: options)
        #expect(lines.errors.isEmpty && lines.kinds == ["missingColumn", "receipt+receipt"])
        #expect(Reading("\(other)\n\(other)\n", options: options).errors.map(\.code) == [.columnNotFound])
    }

    @Test("a document, row or id in the value of a key that does not have the named column counts as not read")
    func valueOfKeyWithoutNamedColumn() throws {
        let receipt = Made.receipt()
        let options = InputOptions(receiptColumns: ["receipt"], otherColumns: ["*"])
        let log = "{\"log\":\"\(Made.base64(Array(Made.reply.utf8)))\"}"
        let id = "{\"transaction_id\":\"530001234567000\"}"
        for (value, counts) in [
            (Made.row, true), (id, true), (log, true), ("[\(log)]", true), ("{}", false), ("[]", false),
            ("{\"name\":\"Ann\",\"visits\":12}", false),
        ] {
            let record = try one("{\"u1\":{\"receipt\":\"\(receipt)\"},\"u2\":\(value)}", options: options)
            #expect(record.payload.receiptText == receipt, "\(value)")
            let isCounted = record.members.contains { $0.path == "*" && $0.fate == .looksLikeDocument }
            #expect(isCounted == counts, "\(value)")
        }
    }

    @Test("a PEM block gives its base64")
    func pem() throws {
        let body = Made.wrapped(Made.receipt(), at: 64) + "\n"
        #expect(try one("-----BEGIN PKCS7-----\n\(body)-----END PKCS7-----\n").payload.receiptText == body)
    }

    @Test("a JWS is distinguished from an iOS 6 receipt that begins with the same letters")
    func jws() throws {
        #expect(try one(Made.jws).payload == .jws(Array(Made.jws.utf8)[...]))
        let plist = Made.base64(Array("{\"signature\" = \"AiOwAiOw\"; }".utf8))
        #expect(plist.hasPrefix("eyJ"))
        #expect(try one(plist).payload.kind == "receipt")
        for bad in ["eyJh.eyJh", "eyJh..abc", "eyJh.ab+c.abc", "eyJh.abc.abc.abc"] {
            #expect(try one(bad).payload.kind == "unknownForm")
        }
    }

    @Test("transaction ids of 1 to 20 digits, as text, string and number")
    func transactionIDs() throws {
        for id in ["1", "1000000123456789", "12345678901234567890"] {
            #expect(try one(id).payload == .transactionID(id))
            #expect(try one("\"\(id)\"").payload == .transactionID(id))
            #expect(try one("{\"original_transaction_id\":\(id)}").payload == .transactionID(id))
            #expect(try one("{\"transactionId\":\"\(id)\"}").payload == .transactionID(id))
        }
        #expect(try one("123456789012345678901").payload.kind == "receipt")
        #expect(try one("{\"transaction_id\":1.5}").payload.kind == "unknownForm")
        #expect(try one("{\"transaction_id\":-5}").payload.kind == "unknownForm")
    }

    @Test("of two ids the original one is taken and the other carried")
    func originalIDFirst() throws {
        let record = try one(#"{"transaction_id":"5","original_transaction_id":"4","user":"u"}"#)
        #expect(record.payload == .transactionID("4"))
        #expect(
            record.carried == [
                .init(name: "transaction_id", value: .text("5")), .init(name: "user", value: .text("u")),
            ])
    }

    @Test("an envelope's payload is found by name, in any spelling")
    func names() throws {
        for name in [
            "receipt", "receipt_data", "receiptData", "Receipt Data", "latest_receipt", "transactionReceipt", "PAYLOAD",
            "base64",
        ] {
            let record = try one("{\"user_id\":42,\"\(name)\":\"\(Made.receipt())\"}")
            #expect(record.payload.receiptText == Made.receipt())
            #expect(record.carried == [CarriedColumn(name: "user_id", value: .json("42"))])
        }
    }

    @Test("an envelope's payload is found by content under an unknown name")
    func content() throws {
        for text in [Made.receipt(), Made.jws, Made.plistReceipt, Made.berReceipt()] {
            #expect(try member(quoted(text)).payload.receiptText == text)
        }
        #expect(try member(quoted(Made.propertyList)).payload.receiptText == Made.propertyList)
        #expect(try member(Made.reply).payload.kind == "reply")
        #expect(try member(quoted(Made.reply)).payload.kind == "reply")
        #expect(try member("[\(Made.row),\(Made.row)]").payload.kind == "transactions")
        #expect(try member("\"just words that are long enough\"").payload.kind == "unknownForm")
    }

    @Test("escapes in a receipt string are undone, other strings are slices of the record")
    func escapes() throws {
        let receipt = Made.receipt(3) + "/+//"
        let record = try one("{\"receipt\":\"\(receipt.replacing("/", with: "\\/"))\"}")
        #expect(record.payload.receiptText == receipt)
        let plain = try one("{\"receipt\":\"\(receipt)\"}")
        guard case .receipt(let slice) = plain.payload else { return }
        #expect(plain.original.indices.contains(slice.startIndex), "a part of the record's own storage")
    }

    @Test("carried columns keep their type and their text")
    func carried() throws {
        let record = try one(
            "{\"id\":18446744073709551616,\"name\":\"J\\u00f6rg\",\"ok\":true,\"none\":null,\"more\":{\"a\": [1]},\"receipt\":\"\(Made.receipt())\"}"
        )
        #expect(
            record.carried == [
                .init(name: "id", value: .json("18446744073709551616")), .init(name: "name", value: .text("Jörg")),
                .init(name: "ok", value: .json("true")), .init(name: "none", value: .json("null")),
                .init(name: "more", value: .json("{\"a\": [1]}")),
            ])
    }

    @Test("of duplicate members the last wins, for payload and carried columns")
    func duplicates() throws {
        let record = try one("{\"u\":1,\"receipt\":\"\(Made.receipt(1))\",\"u\":2,\"receipt\":\"\(Made.receipt(2))\"}")
        #expect(record.payload.receiptText == Made.receipt(2))
        #expect(record.carried == [.init(name: "u", value: .json("2"))])
        let many = (0..<40).map { "\"c\($0 % 20)\":\($0)" }.joined(separator: ",")
        let wide = try one("{\(many),\"receipt\":\"\(Made.receipt())\"}")
        #expect(wide.carried.count == 20)
        #expect(wide.carried("c3") == .json("23"))
    }

    @Test("a named column that no object has stops at once and lists the members, also beside damaged lines")
    func columnOfNoObject() {
        let object = "{\"user\":1,\"data\":\"\(Made.receipt())\"}"
        let options = InputOptions(receiptColumns: ["receipt"])
        for text in ["\(object)\n\(object)\n", "\(object)\n \(object)\n{"] {
            let reading = Reading(text, options: options)
            #expect(reading.records.isEmpty)
            #expect(reading.errors.map(\.code) == [.columnNotFound])
            #expect(
                reading.errors.first?.message
                    == """
                    input has no member receipt. The members of its first record are: user, data. If the member first \
                    appears in a later record, add --columns-appear-later.
                    """)
        }
    }

    @Test("a named column that no object has stops at once, also if some of the first records are replies themselves")
    func columnBesideReplies() {
        let object = "{\"user\":1,\"data\":\"\(Made.receipt())\"}"
        let reply = "{\"user\":2," + String(Made.reply.dropFirst())
        let options = InputOptions(receiptColumns: ["recipt"])
        for text in ["\(object)\n\(reply)\n", "\(reply)\n\(object)\n"] {
            let reading = Reading(text, options: options)
            #expect(reading.records.isEmpty)
            #expect(reading.errors.map(\.code) == [.columnNotFound])
        }
        let item = "{\"Item\":{\"receipt\":{\"S\":\"\(Made.receipt())\"}}}"
        let named = Reading("\(object)\n\(item)\n", options: InputOptions(receiptColumns: ["receipt"]))
        #expect(named.errors.isEmpty && named.kinds == ["missingColumn", "receipt"])
    }

    @Test("a named column that no object of a small array has stops at once, if the objects have documents elsewhere")
    func columnOfNoElement() {
        let object = "{\"user\":1,\"data\":\"\(Made.receipt())\"}"
        let options = InputOptions(receiptColumns: ["receipt"])
        for text in ["[\(object)]", "[\n{\"user\":2},\n\(object)\n]\n"] {
            let reading = Reading(text, options: options)
            #expect(reading.records.isEmpty && reading.errors.map(\.code) == [.columnNotFound], "\(text.prefix(20))")
        }
        // Another file of a folder, and rows, are one record each.
        #expect(Reading("[{\"user\":1},{\"user\":2}]", options: options).kinds == ["unknownForm"])
        #expect(Reading("[\(Made.row),\(Made.row)]", options: options).kinds == ["transactions"])
        // A column without a receipt is there, and the other one is not read.
        let empty = "{\"receipt\":null,\"data\":\"\(Made.receipt())\"}"
        #expect(Reading("[\(empty),\(empty)]", options: options).kinds == ["empty", "empty"])
    }

    @Test("of the objects in an array that is one line, the named column is the only one looked at")
    func columnOfElements() throws {
        func object(_ name: String, _ seed: Int) -> String {
            "{\"user\":\(seed),\"\(name)\":\"\(Made.receipt(seed))\",\"log\":\"\(Made.receipt(9))\"}"
        }
        let lines = """
            [\(object("receipt", 1)),\(object("receipt", 2))]
            [\(object("receipt", 3)),\(object("data", 4))]
            [\(object("data", 5)),\(object("data", 6))]
            [\(object("data", 7))]
            [{"user":8},"\(Made.receipt(8))"]

            """
        let reading = Reading(lines, options: InputOptions(receiptColumns: ["receipt"]))
        #expect(reading.errors.isEmpty)
        #expect(
            reading.records.map { $0.payload.documents.compactMap(\.payload.receiptText) } == [
                [Made.receipt(1), Made.receipt(2)], [Made.receipt(3)], [], [], [Made.receipt(8)],
            ])
        try #require(reading.kinds.count == 5)
        #expect(reading.kinds[2] == "missingColumn" && reading.kinds[3] == "missingColumn")
        let members = reading.records.map(\.members)
        #expect(members[0].contains { $0.path == "[].log" && $0.fate == .leftOut })
        #expect(members[1].contains { $0.path == "[]" && $0.fate == .leftOut })
        // Without the option, all are read.
        #expect(Reading(lines).records.first?.payload.documents.count == 4)
    }

    @Test("with an option, a named column that first appears after the first records is read")
    func columnOfLaterObjects() {
        let text =
            String(repeating: "{\"user\":1}\n", count: InputLimits.detectionRows)
            + "{\"user\":2,\"receipt\":\"\(Made.receipt())\"}\n"
        var options = InputOptions(receiptColumns: ["receipt"])
        #expect(Reading(text, options: options).errors.map(\.code) == [.columnNotFound])
        options.columnsAppearLater = true
        let reading = Reading(text, options: options)
        #expect(reading.errors.isEmpty && reading.kinds.last == "receipt")
        #expect(reading.kinds.count { $0 == "missingColumn" } == InputLimits.detectionRows)
        // So does one whose name is like that of another member.
        let users = String(repeating: "{\"user\":1,\"receipt\":\"\(Made.receipt())\"}\n", count: 2)
        var similar = InputOptions(otherColumns: ["usr"])
        #expect(Reading(users, options: similar).errors.map(\.code) == [.columnNotFound])
        similar.columnsAppearLater = true
        #expect(Reading(users, options: similar).errors.isEmpty)
    }

    @Test("a named column that some of the first objects have, or that what is no object cannot have, stops nothing")
    func columnOfSomeObjects() throws {
        let options = InputOptions(receiptColumns: ["receipt"])
        let with = "{\"receipt\":\"\(Made.receipt())\"}"
        #expect(Reading("{\"user\":1}\n\(with)\n", options: options).kinds == ["missingColumn", "receipt"])
        #expect(Reading("{\"user\":1}\n\(Made.receipt())\n", options: options).errors.isEmpty)
        #expect(Reading("\(Made.reply)\n\(Made.reply)\n", options: options).kinds == ["reply", "reply"])
        let line = #"{"reason":"a","verdict":"b","source":{"input":"x"},"original":"{\"data\":1}"}"#
        #expect(Reading("\(line)\n\(line)\n", options: options).errors.isEmpty)
    }

    @Test("the named column is the only one looked at")
    func namedColumn() throws {
        let options = InputOptions(receiptColumns: ["mine"])
        let text = "{\"receipt\":\"\(Made.receipt(1))\",\"mine\":\"\(Made.receipt(2))\"}"
        #expect(try one(text, options: options).payload.receiptText == Made.receipt(2))
        #expect(try one("{\"receipt\":\"\(Made.receipt())\"}", options: options).payload.kind == "missingColumn")
        #expect(try one(Made.reply, options: options).payload.kind == "reply")
        #expect(try one(Made.reply, options: InputOptions(receiptColumns: ["receipt"])).payload.kind == "reply")
        let nested = "{\"receipt\":{\"Store\":\"AppleAppStore\",\"Payload\":\"\(Made.receipt())\"}}"
        let inside = try one(nested, options: InputOptions(receiptColumns: ["receipt"]))
        #expect(inside.payload.receiptText == Made.receipt())
    }

    @Test("of several named columns, each is looked at, and no other")
    func namedColumns() throws {
        let options = InputOptions(receiptColumns: ["new", "old"])
        let text = """
            {"old":"\(Made.receipt(1))","receipt":"\(Made.receipt(2))","new":"\(Made.receipt(3))","log":"\(Made.receipt(4))"}
            """
        let record = try one(text, options: options)
        #expect(record.payload.documents.map(\.payload.receiptText) == [Made.receipt(1), Made.receipt(3)])
        let fates = Dictionary(record.members.map { ($0.path, $0.fate) }) { first, _ in first }
        #expect(fates == ["old": .readAsReceipt, "new": .readAsReceipt, "receipt": .leftOut, "log": .leftOut])
        #expect(try one(#"{"new":"\#(Made.receipt(1))"}"#, options: options).payload.receiptText == Made.receipt(1))
        #expect(try one(#"{"receipt":"\#(Made.receipt(1))"}"#, options: options).payload.kind == "missingColumn")
    }

    @Test("a reply that --column names by its receipt is read beside another named column")
    func namedReply() throws {
        let text = "{\"old\":\"\(Made.receipt())\"," + String(Made.reply.dropFirst())
        for (columns, kinds) in [
            (["old", "receipt"], ["reply", "receipt"]), (["receipt"], ["reply"]), (["old"], ["receipt"]),
        ] {
            let record = try one(text, options: InputOptions(receiptColumns: columns))
            #expect(record.payload.documents.map(\.payload.kind) == kinds, "\(columns)")
        }
    }

    @Test("a column that is named twice is read once")
    func namedTwice() throws {
        let text = "{\"mine\":\(quoted(Made.reply))}"
        let record = try one(text, options: InputOptions(receiptColumns: ["mine", "mine"]))
        #expect(record.payload.documents.map(\.payload.kind) == ["reply"])
    }

    @Test("a document that --column leaves out is not copied, and the caller's own members in it are")
    func leftOutIsNotCarried() throws {
        let options = InputOptions(receiptColumns: ["receipt"])
        let wrapped = "{\"account\":\"a\",\"receipt\":\"\(Made.receipt(2))\"}"
        for other in [Made.reply, quoted(Made.reply), "[\(Made.row)]", quoted(Made.receipt(3)), wrapped] {
            let record = try one("{\"u\":1,\"other\":\(other),\"receipt\":\"\(Made.receipt())\"}", options: options)
            #expect(record.payload.receiptText == Made.receipt())
            var expected = [CarriedColumn(name: "u", value: .json("1"))]
            if other == wrapped { expected.append(CarriedColumn(name: "other.account", value: .text("a"))) }
            #expect(record.carried == expected, "\(other.prefix(30))")
            #expect(record.members.contains { $0.path == "other" && $0.fate == .leftOut })
        }
    }

    @Test("a reply that verifyReceipt refused is recognized beside members of the caller, and not copied")
    func refusedReply() throws {
        for status in [21_000, 21_002, 21_010, 21_199] {
            let reply = "{\"status\":\(status),\"environment\":\"Production\",\"attempt\":3}"
            for response in [reply, quoted(reply)] {
                let record = try one("{\"u\":1,\"receipt\":\"\(Made.receipt())\",\"response\":\(response)}")
                #expect(record.payload.kind == "pair")
                #expect(record.payload.receiptText == Made.receipt())
                #expect(record.carried == [.init(name: "u", value: .json("1"))])
                #expect(
                    record.payload.documents.flatMap(\.carried) == [
                        .init(name: "response.attempt", value: .json("3"))
                    ])
            }
        }
        for own in [
            "{\"status\":200,\"attempt\":3}", "{\"status\":\"21002\",\"attempt\":3}", "{\"status\":21200,\"a\":3}",
        ] {
            let record = try one("{\"receipt\":\"\(Made.receipt())\",\"response\":\(own)}")
            #expect(record.payload.kind == "receipt")
            #expect(record.carried == [.init(name: "response", value: .json(own))])
        }
        // The status of a record itself is the caller's own, and so is that of a row.
        let record = try one("{\"u\":1,\"status\":21002,\"receipt_data\":\"\(Made.receipt())\"}")
        #expect(record.payload.kind == "receipt" && record.carried("status") == .json("21002"))
        let row = Made.row.replacing("{", with: "{\"status\":21007,")
        #expect(try one("{\"u\":1,\"purchase\":\(row)}").payload.kind == "transactions")
    }

    @Test("Unity's wrapper, plain, nested, in a string and with another store")
    func unity() throws {
        let wrapper = "{\"Store\":\"AppleAppStore\",\"TransactionID\":\"1\",\"Payload\":\"\(Made.receipt())\"}"
        #expect(try one(wrapper).payload.receiptText == Made.receipt())
        #expect(try one(wrapper).carried.isEmpty)
        let inString = try one("{\"user_id\":\"7\",\"receipt\":\(quoted(wrapper))}")
        #expect(inString.payload.receiptText == Made.receipt())
        #expect(inString.carried == [.init(name: "user_id", value: .text("7"))])
        let payload = quoted("{\"payload\":\"\(Made.receipt())\"}")
        #expect(try one("{\"Store\":\"MacAppStore\",\"Payload\":\(payload)}").payload.receiptText == Made.receipt())
        #expect(try one("{\"Store\":\"AppleAppStore\",\"Payload\":\"\(Made.jws)\"}").payload.kind == "jws")
        #expect(try one(#"{"Store":"GooglePlay","Payload":"{}"}"#).payload.kind == "otherStore")
    }

    @Test("a request body gives its receipt and never its password")
    func requestBody() throws {
        let record = try one(
            "{\"receipt-data\":\"\(Made.receipt())\",\"password\":\"secret\",\"exclude-old-transactions\":true,\"user\":1}"
        )
        #expect(record.payload.receiptText == Made.receipt())
        #expect(record.carried == [.init(name: "user", value: .json("1"))])
    }

    @Test(
        "every form of reply",
        arguments: [
            #"{"status":21002}"#, #"{"status":0,"receipt":{"bid":"b","product_id":"p"}}"#,
            #"{"receipt":{"bid":"b","product_id":"p","transaction_id":"1"}}"#,
            #"{"latest_receipt_info":[{"product_id":"p"}]}"#,
            #"{"status":21006,"receipt":{"bid":"b"},"latest_expired_receipt_info":{"bid":"b"}}"#,
            #"{"pending_renewal_info":[]}"#, #"{"status":0,"receipt":[{"product_id":"p"}]}"#,
            #"{"receipt_type":"Production","bundle_id":"b","in_app":[]}"#,
        ])
    func replies(text: String) throws {
        #expect(try one(text).payload.kind == "reply")
        let row = try one("{\"user_id\":42,\"receipt\":\(text)}")
        #expect(row.payload.kind == "reply")
        #expect(row.carried == [.init(name: "user_id", value: .json("42"))])
        #expect(try one("{\"user_id\":42,\"response\":\(quoted(text))}").payload.kind == "reply")
    }

    @Test("a table row with a status of its own is no reply")
    func ownStatus() throws {
        let record = try one("{\"status\":1,\"receipt\":\"\(Made.receipt())\"}")
        #expect(record.payload.kind == "receipt")
        #expect(record.carried == [.init(name: "status", value: .json("1"))])
        #expect(try one(#"{"status":1,"user":2}"#).payload.kind == "unknownForm")
    }

    @Test("a reply's own keys are not carried, others are")
    func replyColumns() throws {
        let record = try one(#"{"status":0,"user_id":"7","receipt":{"bid":"b"},"environment":"Sandbox"}"#)
        #expect(record.payload.kind == "reply")
        #expect(record.carried == [.init(name: "user_id", value: .text("7"))])
    }

    @Test("a receipt beside its reply is a pair")
    func pairs() throws {
        for text in [
            "{\"u\":1,\"receipt\":\"\(Made.receipt())\",\"response\":\(Made.reply)}",
            "{\"u\":1,\"receipt\":\"\(Made.receipt())\",\"validated\":\(quoted(Made.reply))}",
            "{\"u\":1,\"blob\":\"\(Made.receipt())\",\"verify_receipt_response\":\(Made.reply)}",
            "{\"u\":1,\"receipt-data\":\"\(Made.receipt())\",\"password\":\"s\",\"status\":0,\"latest_receipt_info\":[]}",
            "{\"u\":1,\"receipt\":\"\(Made.receipt())\",\"status\":0,\"latest_receipt_info\":[]}",
        ] {
            let record = try one(text)
            #expect(record.payload.kind == "pair")
            #expect(record.payload.receiptText == Made.receipt())
            #expect(record.carried == [.init(name: "u", value: .json("1"))])
            #expect(record.payload.pair?.reply["status"] == .integer(0))
            #expect(record.payload.pair?.reply["receipt"]?.string == nil)
        }
    }

    @Test("every document of an object is read, for any number and names")
    func several() throws {
        let (x, y) = (Made.receipt(1), Made.receipt(2))
        let notification = #"{"notification_type":"RENEWAL","latest_receipt":"abc"}"#
        let cases: [(String, String)] = [
            ("{\"receipt\":\"\(x)\",\"latest_receipt\":\"\(y)\"}", "receipt+receipt"),
            ("{\"receipt\":\"\(x)\",\"latest_receipt\":\"\(x)\"}", "receipt"),
            ("{\"a\":\"\(x)\",\"b\":\"\(Made.jws)\"}", "receipt+jws"),
            ("{\"receipt\":null,\"latest_receipt\":\"\(x)\"}", "receipt"),
            ("{\"receipts\":[\"\(x)\",\"\(y)\"]}", "receipt+receipt"),
            ("{\"receipts\":[{\"id\":1,\"receipt\":\"\(x)\"},{\"id\":2,\"receipt\":\"\(y)\"}]}", "receipt+receipt"),
            ("{\"data\":{\"old\":\"\(x)\",\"new\":\"\(y)\"}}", "receipt+receipt"),
            ("{\"receipt\":\"\(x)\",\"event\":\(notification)}", "receipt+notification"),
            ("{\"receipt\":\"\(x)\",\"notification_type\":\"RENEWAL\",\"unified_receipt\":{}}", "notification+receipt"),
            ("{\"receipt\":\"\(x)\",\"replies\":[\(Made.reply),\(Made.reply)]}", "receipt+reply+reply"),
            ("{\"replies\":\(quoted("[\(Made.reply),\(Made.reply)]"))}", "reply+reply"),
            ("{\"rows\":[\(Made.row),\"\(x)\",\(Made.row)]}", "receipt+transactions"),
            ("{\"receipt\":\"\(x)\",\"latest_receipt_info\":\(quoted("[\(Made.row)]"))}", "pair"),
            ("{\"receipt\":\"\(x)\",\"pending_renewal_info\":\(quoted(#"[{"product_id":"p"}]"#))}", "pair"),
            ("{\"receipt\":\"\(x)\",\"purchase\":\(Made.row)}", "receipt+transactions"),
            ("[\"\(x)\",\(Made.reply)]".replacing("\n", with: ""), "pair"),
        ]
        for (text, kind) in cases {
            let payload = text.hasPrefix("[") ? try member(text).payload : try one(text).payload
            #expect(payload.kind == kind, "\(text.prefix(40))")
        }
    }

    @Test("columns of the caller's own stay with the document that they stand beside")
    func carriedOfSeveral() throws {
        let record = try one(
            "{\"u\":1,\"receipts\":[{\"id\":1,\"receipt\":\"\(Made.receipt(1))\"},{\"id\":2,\"receipt\":\"\(Made.receipt(2))\"}]}"
        )
        #expect(record.carried == [.init(name: "u", value: .json("1"))])
        #expect(record.payload.documents.map(\.path) == ["receipts[]", "receipts[]"])
        #expect(
            record.payload.documents.map(\.carried) == [
                [.init(name: "receipts.id", value: .json("1"))], [.init(name: "receipts.id", value: .json("2"))],
            ])
    }

    @Test("each column and member says what became of it; a text that holds a document unread is named")
    func members() throws {
        func fates(_ text: String, _ options: InputOptions = InputOptions()) throws -> [String: MemberFate] {
            Dictionary(try one(text, options: options).members.map { ($0.path, $0.fate) }) { first, _ in first }
        }
        let x = Made.receipt()
        #expect(
            try fates(
                "{\"u\":1,\"receipt\":\"\(x)\",\"response\":{\"status\":0,\"receipt\":{\"bid\":\"b\"},\"mine\":2}}")
                == [
                    "u": .carriedAlong, "receipt": .readAsReceipt, "response.status": .readAsReply,
                    "response.receipt": .readAsReply, "response.mine": .carriedAlong,
                ])
        #expect(
            try fates("{\"receipt-data\":\"\(x)\",\"password\":\"secret\"}") == [
                "receipt-data": .readAsReceipt, "password": .ignored,
            ])
        #expect(try fates(x) == ["(record)": .readAsReceipt])
        #expect(
            try fates("{\"receipts\":[\"\(x)\",\"\(Made.receipt(2))\",\"n/a\"]}") == ["receipts[]": .readAsReceipt])
        #expect(try fates("{\"receipt\":\"\(x)\",\"latest_receipt\":\"\"}")["latest_receipt"] == .empty)
        let pairs = Made.der().map { Printable.hex([$0]) }
        let gzip = Made.base64([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + Made.der())
        for hidden in [
            "\"error while checking \(x): timeout\"", "\"received \(pairs.joined(separator: ":"))\"",
            "\"received \(pairs.joined(separator: " "))\"", "\"INSERT INTO receipts VALUES (X'\(pairs.joined())')\"",
            "\"received \(Made.base64(Array(x.utf8)))\"", "\"\(gzip)\"", "\"received \(gzip)\"",
            "\"received \(Made.base64(Array("{\"receipt-data\":\"\(x)\"}".utf8)))\"",
            String(repeating: "{\"a\":", count: 9) + "{\"receipt\":\"\(x)\"}" + String(repeating: "}", count: 9),
        ] {
            let found = try fates("{\"receipt\":\"\(Made.receipt(3))\",\"log\":\(hidden)}")
            #expect(found["log"] == .looksLikeDocument, "\(hidden.prefix(30))")
            #expect(found["receipt"] == .readAsReceipt)
        }
        let inForm = try fates("{\"receipt\":\"\(Made.receipt(3))\",\"log\":\"receipt-data=\(percent(x))&password=s\"}")
        #expect(inForm["log.receipt-data"] == .readAsReceipt && inForm["log.password"] == .ignored)
        let inURL = try fates("{\"receipt\":\"\(Made.receipt(3))\",\"log\":\"data:;base64,\(x)\"}")
        #expect(inURL["log"] == .readAsReceipt)
        let chosen = try fates(
            "{\"old\":\"\(x)\",\"new\":\"\(Made.receipt(2))\",\"u\":1}", InputOptions(receiptColumns: ["new"]))
        #expect(chosen == ["old": .leftOut, "new": .readAsReceipt, "u": .carriedAlong])
    }

    @Test("a row in an array that holds a receipt is no mere row: the receipt is read, and the row travels along")
    func rowsWithReceipts() throws {
        func row(_ id: Int, _ more: String = "") -> String {
            "{\"product_id\":\"p\",\"transaction_id\":\"\(id)\"\(more)}"
        }
        func purchases(_ rows: String...) throws -> InputRecord {
            try one("{\"user\":1,\"purchases\":[\(rows.joined(separator: ","))]}")
        }
        let (first, second) = (",\"receipt\":\"\(Made.receipt(1))\"", ",\"r\":{\"x\":\"\(Made.receipt(2))\"}")
        let both = try purchases(row(5, first), row(6, second))
        #expect(both.payload.documents.map(\.payload.kind) == ["receipt", "receipt"])
        #expect(both.payload.documents.map(\.path) == ["purchases[]", "purchases[]"])
        #expect(both.payload.documents[0].carried.contains(.init(name: "purchases.product_id", value: .text("p"))))
        #expect(Set(both.members.filter { $0.fate == .readAsReceipt }.map(\.path)).contains("purchases[].receipt"))
        let mixed = try purchases(row(5), row(6, first))
        #expect(Set(mixed.payload.documents.map(\.payload.kind)) == ["receipt", "transactions"])
        #expect(try purchases(row(5, first)).payload.receiptText == Made.receipt(1))
        // A document without a signature does not drive out the row that it stands in.
        let reply = try purchases(row(5), row(6, ",\"response\":\(Made.reply)"))
        #expect(Set(reply.payload.documents.map(\.payload.kind)) == ["reply", "transactions"])
        let rows = reply.payload.documents.compactMap { document -> Int? in
            guard case .transactions(let rows) = document.payload else { return nil }
            return rows.array?.count
        }
        #expect(rows == [2])
    }

    @Test("rows in an array with a text that holds a document unread are rows, and the text is named")
    func rowsWithTraces() throws {
        let row = "{\"product_id\":\"p\",\"transaction_id\":\"5\",\"meta\":{\"a\":1}"
        let plain = try one("{\"user\":1,\"purchases\":[\(row)},\(row)}]}")
        #expect(plain.members.contains { $0.path == "purchases" && $0.fate == .readAsRows })
        #expect(!plain.members.contains { $0.fate == .looksLikeDocument })
        let log = "\"log\":\"error while checking \(Made.receipt()): timeout\""
        let record = try one("{\"user\":1,\"purchases\":[\(row)},\(row),\(log)}]}")
        guard case .transactions(let rows) = record.payload else {
            Issue.record("\(record.payload.kind)")
            return
        }
        #expect(rows.array?.count == 2)
        #expect(record.members.contains { $0.path == "purchases[].log" && $0.fate == .looksLikeDocument })
    }

    @Test(
        "a document in a place where a reply, a notification or a row of Apple has none is read too",
        arguments: [
            (#"{"latest_receipt_info":[{"product_id":"p","transaction_id":"5","raw":"RECEIPT"}]}"#, "reply"),
            (#"{"receipt":{"product_id":"p","transaction_id":"5","raw":"RECEIPT"}}"#, "reply"),
            (#"{"receipt":{"bundle_id":"b","in_app":[{"product_id":"p","meta":{"raw":"RECEIPT"}}]}}"#, "reply"),
            (#"{"status":0,"pending_renewal_info":[{"product_id":"p","raw":"RECEIPT"}]}"#, "reply"),
            (#"{"pending_renewal_info":{"transactionReceipt":"RECEIPT"}}"#, "reply"),
            (#"{"unified_receipt":{"data":"RECEIPT"}}"#, "notification"),
            (#"{"unified_receipt":{"data":{"receipt-data":"RECEIPT","password":"secret"}}}"#, "notification"),
            (#"{"unified_receipt":{"latest_receipt_info":[{"product_id":"p","raw":"RECEIPT"}]}}"#, "notification"),
            (#"{"notification_type":"RECEIPT"}"#, "notification"),
            (#"{"notification_type":"RENEWAL","receipt-data":{"receipt":"RECEIPT"}}"#, "notification"),
        ])
    func documentsInsideDocuments(json: String, kind: String) throws {
        let text = json.replacing("RECEIPT", with: Made.receipt())
        for record in [try one(text), try member(text)] {
            let documents = record.payload.documents
            #expect(documents.count == 2 && documents.first?.payload.kind == kind, "\(json)")
            #expect(documents.last?.payload.receiptText == Made.receipt(), "\(json)")
            #expect(record.members.contains { $0.fate == .readAsReceipt }, "\(json)")
            #expect(!record.members.contains { $0.fate == .looksLikeDocument }, "\(json)")
        }
    }

    @Test("an unreadable value where a reply has no document is counted, and a receipt of the reply is not")
    func tracesInsideDocuments() throws {
        func fates(_ json: String) throws -> [MemberPath] { try one(json).members }
        let log = "error while checking \(Made.receipt()): timeout"
        let row = "{\"product_id\":\"p\",\"transaction_id\":\"5\",\"log\":\"\(log)\"}"
        #expect(
            try fates("{\"latest_receipt_info\":[\(row)]}").contains {
                $0.path == "latest_receipt_info[].log" && $0.fate == .looksLikeDocument
            })
        for json in [
            "{\"latest_receipt\":\"\(Made.receipt())\",\"latest_receipt_info\":[\(Made.row)]}",
            "{\"unified_receipt\":{\"latest_receipt\":\"\(Made.receipt())\"}}",
        ] {
            #expect(try one(json).payload.documents.count == 1)
            #expect(try !fates(json).contains { $0.fate == .looksLikeDocument })
        }
    }

    @Test("a reply or StoreKit 2 JSON under a name of Apple's for something else is read")
    func otherDocumentsInsideDocuments() throws {
        let reply = #"{"status":0,"receipt":{"bundle_id":"b","in_app":[{"product_id":"p","transaction_id":"5"}]}}"#
        let record = try one("{\"pending_renewal_info\":\(reply)}")
        #expect(record.payload.documents.map(\.payload.kind) == ["reply", "reply"])
        let renewal = #"{"originalTransactionId":"5","autoRenewProductId":"p","autoRenewStatus":1}"#
        let decoded = try one("{\"pending_renewal_info\":[\(renewal)]}")
        #expect(decoded.payload.documents.map(\.payload.kind) == ["reply", "storeKit2 renewalInfo"])
    }

    @Test("a reply or a JWS in place of the receipt in latest_receipt is read")
    func otherDocumentAsLatestReceipt() throws {
        let reply = #"{"status":0,"receipt":{"bundle_id":"b","in_app":[{"product_id":"p","transaction_id":"5"}]}}"#
        for (text, kind) in [(reply.replacing("\"", with: "\\\""), "reply"), (Made.jws, "jws")] {
            let record = try one("{\"latest_receipt\":\"\(text)\",\"latest_receipt_info\":[\(Made.row)]}")
            #expect(record.payload.documents.map(\.payload.kind) == ["reply", kind])
        }
    }

    @Test("a document that a later member of the same name replaces is counted as not read", arguments: [0, 20])
    func replacedMembers(others: Int) throws {
        let more = (0..<others).map { "\"c\($0)\":\($0)," }.joined()
        let record = try one(
            "{\(more)\"u\":1,\"receipt\":\"\(Made.receipt(1))\",\"u\":2,\"receipt\":\"1000000539641112\"}")
        #expect(record.members.filter { $0.path == "receipt" }.map(\.fate).contains(.looksLikeDocument))
        #expect(record.members.filter { $0.path == "u" }.map(\.fate) == [.carriedAlong, .ignored])
    }

    @Test("names of members are cut, and their number within one record is bounded")
    func hostileMembers() throws {
        let long = String(repeating: "n", count: 100_000)
        let record = try one("{\"\(long)\":1,\"receipt\":\"\(Made.receipt())\"}")
        #expect(record.members.allSatisfy { $0.path.utf8.count < 200 })
        let many = (0..<20_000).map { "\"c\($0)\":1" }.joined(separator: ",")
        let wide = try one("{\(many),\"receipt\":\"\(Made.receipt())\"}")
        #expect(Set(wide.members.map(\.path)).count <= InputLimits.memberPaths + 1)
        #expect(wide.members.count == 20_001)
    }

    @Test("a transaction id in an object inside the record counts if there is no document")
    func idInside() throws {
        let record = try one(#"{"user_id":7,"data":{"purchase":{"transactionId":"530001","product":"p"}}}"#)
        #expect(record.payload == .transactionID("530001"))
        let read = record.members.filter { $0.fate == .readAsTransactionId }
        #expect(read.map(\.path) == ["data.purchase.transactionId"])
        #expect(record.carried("user_id") == .json("7") && record.carried("data.purchase.product") == .text("p"))
        let both = try one(#"{"purchase":{"transactionId":"530001"},"receipt":"\#(Made.receipt())"}"#)
        #expect(both.payload.kind == "receipt" && both.carried("purchase") != nil)
        #expect(try one(#"{"store":"stripe","payment":{"transaction_id":"530001"}}"#).payload.kind == "otherStore")
    }

    @Test("the message about text with a document says that there is one, and how INSERT statements are read")
    func documentsAmongText() throws {
        for (text, words) in [
            ("The receipt of user 7: \(Made.receipt())", "among other text"),
            ("INSERT INTO `r` VALUES (1,'\(Made.receipt())');", "INSERT statements"),
            ("-- MySQL dump 10.13\nINSERT INTO `r` VALUES (1,'\(Made.receipt())');\n", "INSERT statements"),
            ("just words that are long enough, and no document at all; they are more than sixty-four", "Neither"),
        ] {
            let reading = Reading(text, options: InputOptions(format: .file))
            guard case .unrecognized(let problem)? = reading.records.first?.payload else {
                Issue.record("\(text.prefix(20)) is recognized")
                continue
            }
            #expect(problem.code == .unknownForm && problem.message.contains(words), "\(problem.message)")
        }
    }

    @Test("the types that databases write around values are no part of them")
    func databaseJSON() throws {
        let receipt = Made.receipt()
        let cases: [(String, CarriedColumn.Value)] = [
            (#"{"user_id":{"S":"u1"},"receipt":{"S":"\#(receipt)"},"paid":{"BOOL":true}}"#, .text("u1")),
            (#"{"Item":{"user_id":{"S":"u1"},"receipt":{"S":"\#(receipt)"}}}"#, .text("u1")),
            (#"{"user_id":{"N":"12345678901234567"},"receipt":{"B":"\#(receipt)"}}"#, .json("12345678901234567")),
            (
                #"{"user_id":{"$oid":"5f1b2c3d"},"receipt":{"$binary":{"base64":"\#(receipt)","subType":"00"}}}"#,
                .text("5f1b2c3d")
            ),
            (
                #"{"user_id":{"$binary":{"base64":"fj+yC0zbR8yTbZnWX2CBOA==","subType":"04"}},"receipt":"\#(receipt)"}"#,
                .text("7e3fb20b-4cdb-47cc-936d-99d65f608138")
            ),
            (#"{"user_id":{"$numberLong":"77"},"receipt":"\#(receipt)"}"#, .json("77")),
            (#"{"user_id":{"stringValue":"u1"},"receipt":{"stringValue":"\#(receipt)"}}"#, .text("u1")),
            (#"{"user_id":{"string":"u1"},"receipt":{"string":"\#(receipt)"}}"#, .text("u1")),
            (
                #"{"user_id":{"__type":"Pointer","className":"_User","objectId":"u1"},"receipt":"\#(receipt)"}"#,
                .text("u1")
            ),
            (#"{"user_id":{"NULL":true},"receipt":{"S":"\#(receipt)"}}"#, .json("null")),
        ]
        for (text, user) in cases {
            let record = try one(text)
            #expect(record.payload.receiptText == receipt, "\(text.prefix(60))")
            #expect(record.carried("user_id") == user, "\(text.prefix(60))")
            #expect(String(decoding: record.original, as: UTF8.self) == text)
        }
    }

    @Test("documents inside the types of databases are read as without them")
    func documentsInDatabaseJSON() throws {
        let row = #"{"M":{"product_id":{"S":"p"},"transaction_id":{"S":"7"},"purchase_date_ms":{"S":"1700000000000"}}}"#
        #expect(try one(#"{"Item":{"latest_receipt_info":{"L":[\#(row)]}}}"#).payload.kind == "reply")
        #expect(
            try one(#"{"Item":{"user":{"S":"u"},"original_transaction_id":{"S":"530001"}}}"#).payload.kind
                == "id 530001")
        let transaction = #"{"t":{"transactionId":"1","originalTransactionId":"1","productId":"p","purchaseDate":"#
        let typed = try one(transaction + #"{"$numberLong":"1700000000000"}}}"#)
        let plain = try one(transaction + "1700000000000}}")
        #expect(typed.payload == plain.payload && typed.payload.documents.count == 1)
        #expect(
            try one(#"{"platform":{"S":"android"},"receipt":{"S":"abcdefghijklmnopqrst"}}"#).payload.kind
                == "otherStore")
        // A record alone is no typed value, and other objects with such a member stay.
        let own = try one(#"{"S":"x","receipt":"\#(Made.receipt())","size":{"S":1,"M":2}}"#)
        #expect(own.carried("size") == .json(#"{"S":1,"M":2}"#) && own.carried("S") == .text("x"))
    }

    @Test(
        "a purchase of another store is not Apple's, in any shape",
        arguments: [
            #"{"store":"PLAY_STORE","product_id":"p","transaction_id":"1"}"#,
            #"{"store":"stripe","product_id":"p","transaction_id":"in_1N"}"#,
            #"{"product_id":"p","transaction_id":"GPA.3345-0000-1111-22222"}"#,
            #"{"product_id":"p","transaction_id":"1","original_transaction_id":"GPA.3345-0000-1111-22222..0"}"#,
            #"{"platform":"android","receipt":"abcdefghijklmnopqrstuvwxyz"}"#,
            #"{"user":1,"transaction_id":"GPA.3345-0000-1111-22222"}"#, "GPA.3345-0000-1111-22222",
            #"{"receipt":{"orderId":"GPA.3-1","packageName":"a.b","purchaseToken":"abcdefghijklmnop"}}"#,
            #"{"packageName":"a.b","productId":"p","purchaseToken":"abcdefghijklmnopqrstuvwx"}"#,
            #"{"store":"PLAY_STORE","latest_receipt_info":[{"product_id":"p","transaction_id":"1"}]}"#,
            #"{"Store":"fake","store":"amazon","subscriptions":[{"product_id":"p","transaction_id":"1"}]}"#,
            #"{"type":"android-playstore","id":"1","purchaseToken":"abc"}"#, #"{"id":"GPA.3-1","purchaseToken":"abc"}"#,
            #"{"className":"Transaction","platform":"android-playstore","products":[{"id":"p"}]}"#,
        ])
    func otherStores(text: String) throws {
        #expect(try one(text).payload.kind == "otherStore")
        let wrapped = text.hasPrefix("{") ? "\"data\":\(text)" : "\"receipt\":\(quoted(text))"
        #expect(try one("{\"user_id\":42,\(wrapped)}").payload.kind == "otherStore")
    }

    /// Google's message of Pub/Sub.
    private static let developerNotification = Made.base64(
        Array(
            """
            {"version":"1.0","packageName":"a.b","eventTimeMillis":"1503349566168","subscriptionNotification":\
            {"version":"1.0","notificationType":4,"purchaseToken":"abcdefghijklmnopqrstuvwx","subscriptionId":"s"}}
            """.utf8))
    private static let googleToken =
        "abcdefghijklmnopqrstuvwx.AO-J1O" + String(repeating: "xY0_z-", count: 20)
    private static let windowsReceipt =
        #"<Receipt Version="1.0" ReceiptDate="2012-08-30T23:10:05Z" CertificateId="b809e47cd0110a4db043b3f73e83acd917fe1336""#
        + #" xmlns="http://schemas.microsoft.com/windows/2012/store/receipt"><AppReceipt Id="8ffa256d" /></Receipt>"#
    private static let shapesOfOtherStores = [
        #"{"id":"sub_1N","object":"subscription","status":"active","items":{"object":"list"}}"#,
        #"{"id":"evt_1N","object":"event","data":{"object":{"id":"in_1","object":"invoice"}}}"#,
        #"{"kind":"androidpublisher#subscriptionPurchaseV2","latestOrderId":"GPA.1","lineItems":[{"productId":"p"}]}"#,
        #"{"kind":"androidpublisher#productPurchase","purchaseTimeMillis":"1","purchaseState":0}"#,
        #"{"receiptId":"q1YqVbJSyjH28DGPKChw9c0o8nd3ySststQtm5PSrCj1","userId":"l3HL7XppEMhrOGDnur9"}"#,
        #"{"receiptId":"q1YqVbJSyjH28DGPKChw9c0o8nd3ySststQtm5PSrCj1","productId":"p","termSku":"s"}"#,
        #"{"receiptId":"wE1EG1gsEZI9q9UnI5YoZ2OxeoVKPdR5bvPMqyKQq5Y=:1:11","productType":"CONSUMABLE","termSku":null}"#,
        #"{"itemId":"gold","paymentId":"TPMTID20131011RUI0515895","packageName":"a.b","status":"success"}"#,
        #"{"itemId":"gold","itemDesc":"d","paymentId":"TPMTID20131011RUI0515895","paymentAmount":"1","status":"true"}"#,
        #"{"mItemId":"1","mPaymentId":"t","mPurchaseId":"a395","mVerifyUrl":"https://iap.example.com/verify"}"#,
        #"{"appPackageName":"a.b","notificationType":"S","receiptId":"q1YqVbJSyjH28DGPKChw9c0o8nd3","appUserId":"l3"}"#,
        #"{"status":"Success","transactionId":"7b1c-a2","productId":"p","rokuCustomerId":"c"}"#,
        #"{"transactionType":"Sale","transactionId":"7b1c-a2","channelId":"1","productCode":"p","customerId":"c"}"#,
        #"{"regionCode":"US","subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","lineItems":[{"productId":"p"}]}"#,
        #"{"regionCode":"US","latestOrderId":"GPA.1","lineItems":[{"productId":"p"}]}"#,
        #"{"id":"a","productId":"9N","productKind":"Durable","acquiredDate":"2015-09-22T19:22:51","skuType":"Full"}"#,
        #"{"alert_name":"subscription_created","subscription_id":"1","p_signature":"abc"}"#,
        #"{"Store":"UDP","TransactionID":"1","Payload":"{}"}"#,
        #"{"Store":"fake","TransactionID":"1","Payload":"{ \"this\" : \"is a fake receipt\" }"}"#,
        "{\"message\":{\"data\":\"\(developerNotification)\",\"messageId\":\"1\"},\"subscription\":\"projects/p\"}",
        googleToken, "{\"purchaseToken\":\"\(googleToken)\"}", windowsReceipt,
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\(windowsReceipt)",
    ]

    @Test("a purchase of another store is recognized by its own form", arguments: Self.shapesOfOtherStores)
    func formsOfOtherStores(text: String) throws { try otherStores(text: text) }

    @Test("members that other stores have too make no document of Apple's theirs")
    func commonMembers() throws {
        let amazon = #""receiptId":"q1YqVbJSyjH28DGPKChw9c0o8nd3ySststQtm5PSrCj1","userId":"u""#
        for (text, kind) in [
            ("{\(amazon),\"product_id\":\"p\",\"transaction_id\":\"1\"}", "transactions"),
            ("{\(amazon),\"transaction_id\":\"1000000123\"}", "id 1000000123"),
            ("{\(amazon),\"status\":\"ok\",\"response\":\(Made.reply)}", "reply"),
            ("{\"rokuCustomerId\":\"c\",\"transaction_id\":\"1000000123\"}", "id 1000000123"),
            ("{\"packageName\":\"a.b\",\"paymentId\":\"1\",\"response\":\(Made.reply)}", "reply"),
            ("{\"itemDesc\":\"d\",\"paymentId\":\"1\",\"p_signature\":\"s\",\"response\":\(Made.reply)}", "reply"),
            ("{\"channelId\":\"1\",\"productCode\":\"p\",\"transaction_id\":\"1000000123\"}", "id 1000000123"),
            ("{\"id\":\"sub_1\",\"object\":\"subscription\",\"receipt\":\"\(Made.receipt())\"}", "receipt"),
            ("{\"id\":\"sub_1\",\"object\":\"receipt\",\"response\":\(Made.reply)}", "reply"),
            ("{\"kind\":\"subscription\",\"response\":\(Made.reply)}", "reply"),
            ("{\"packageName\":\"a.b\",\"purchaseToken\":\"\(Made.receipt())\"}", "receipt"),
        ] as [(String, String)] {
            #expect(try one(text).payload.kind == kind, "\(text.prefix(60))")
        }
    }

    @Test("data signed by Apple is read with any store's name in the record, and Apple's own stores are Apple's")
    func ownStore() throws {
        #expect(try one("{\"store\":\"PLAY_STORE\",\"receipt\":\"\(Made.receipt())\"}").payload.kind == "receipt")
        for store in ["APP_STORE", "app_store", "MAC_APP_STORE", "AppleAppStore", "ios"] {
            #expect(
                try one("{\"store\":\"\(store)\",\"product_id\":\"p\",\"transaction_id\":\"1\"}").payload.kind
                    == "transactions")
        }
    }

    @Test("rows of latest_receipt_info, one or an array")
    func rows() throws {
        #expect(try one(Made.row).payload.kind == "transactions")
        let array = try one("[\(Made.row),\(Made.row)]")
        #expect(array.payload.kind == "transactions")
        #expect(array.place.unit == .file)
        let row = try one(Made.row.dropLast() + ",\"user_id\":9}")
        #expect(row.carried == [.init(name: "user_id", value: .json("9"))])
        #expect(try one(Made.row.dropLast() + ",\"receipt\":\"\(Made.receipt())\"}").payload.kind == "receipt")
    }

    @Test("version 1 notifications")
    func notifications() throws {
        let record = try one(#"{"notification_type":"RENEWAL","latest_receipt":"abc","password":"s","shard":3}"#)
        #expect(record.payload.kind == "notification")
        #expect(record.carried == [.init(name: "shard", value: .json("3"))])
        #expect(
            try one(#"{"status":0,"receipt":{"bid":"b"},"unified_receipt":{"status":0}}"#).payload.kind
                == "notification")
    }

    @Test("a version 2 notification is its JWS")
    func versionTwo() throws {
        #expect(try one("{\"signedPayload\":\"\(Made.jws)\"}").payload.kind == "jws")
    }

    @Test("wrappers around wrappers end at the limit on both sides")
    func nesting() throws {
        func nested(_ count: Int) -> String {
            (0..<count).reduce("\"\(Made.receipt())\"") { inner, _ in "{\"receipt\":\(inner)}" }
        }
        #expect(try one(nested(InputLimits.payloadNesting)).payload.kind == "receipt")
        #expect(try one(nested(InputLimits.payloadNesting + 1)).payload.kind == "nestedTooDeep")
    }

    @Test(
        "the work for wrappers around wrappers is not doubled by each of them", .timeLimit(.minutes(10)),
        arguments: ["\"Store\":\"AppleAppStore\",\"Payload\"", "\"transaction_id\""])
    func workOfNesting(member: String) throws {
        let elements = "[\(String(repeating: "0,", count: 500_000))0]"
        let record = (1..<InputLimits.payloadNesting).reduce(elements) { inner, _ in "{\(member):\(inner)}" }
        #expect(try one(record).payload.kind == "unknownForm")
    }

    @Test("an empty or null column is named as such")
    func empty() throws {
        for value in ["\"\"", "null", "\"  \"", "[]", "\"NULL\""] {
            #expect(try one("{\"user\":1,\"receipt\":\(value)}").payload.kind == "empty")
        }
    }

    @Test("compressed and UTF-16 files are distinguished from damage")
    func foreignFiles() {
        func kind(_ bytes: [UInt8]) -> [String] { Reading([.bytes(bytes, name: "x")]).kinds }
        #expect(kind([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]) == ["compressed"])
        #expect(kind([0x50, 0x4B, 0x03, 0x04, 0]) == ["compressed"])
        #expect(kind([0xFF, 0xFE, 0x7B, 0]) == ["utf16"])
        #expect(kind([0x7B, 0, 0x22, 0]) == ["utf16"] && kind([0, 0x7B, 0, 0x22]) == ["utf16"])
        #expect(kind([0x80, 0x81, 0, 1]) == ["invalidUTF8"])
    }

    @Test("a compressed or UTF-16 file that is too long says so, because reading the rest would not help")
    func longForeignFiles() {
        let text = String(repeating: "{\"receipt\":1}\n", count: 10_000)
        let utf16 = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        let zip = [0x50, 0x4B, 0x03, 0x04] + [UInt8](repeating: 0, count: 100_000)
        for (bytes, kind) in [(utf16, "utf16"), ([0xFF, 0xFE] + utf16, "utf16"), (zip, "compressed")] {
            let reading = Reading([.bytes(bytes, name: "x")], options: InputOptions(maximumRecordSize: 70_000))
            #expect(reading.kinds == [kind])
            #expect(reading.records.first?.length == bytes.count)
            #expect(reading.records.first?.original.count == InputLimits.oversizeExcerpt)
        }
    }

    @Test("a problem names the byte in the JSON")
    func problemOffset() throws {
        guard case .unrecognized(let problem) = try one("  {\"a\":tru}").payload else { return }
        #expect(problem.code == .invalidJSON)
        #expect(problem.message.hasSuffix("at byte 5."))
    }
}
