import Migration
import TestSupport
import Testing

@Suite("Inputs are cut into records")
struct FramingTests {
    private let a = Made.receipt(1)
    private let b = Made.receipt(2)
    private let c = Made.receipt(3)

    @Test("NDJSON: one record per line, blank lines counted, a last line without end, CRLF, byte order mark")
    func ndjson() {
        let reading = Reading(
            "\u{FEFF}{\"u\":1,\"receipt\":\"\(a)\"}\r\n\n  \r\n{\"u\":2,\"receipt\":\"\(b)\"}\n\"\(c)\"", name: "x")
        #expect(reading.receipts == [a, b, c])
        #expect(reading.places == ["x, line 1", "x, line 4", "x, line 5"])
        #expect(reading.records[0].place.byteOffset == 3)
        #expect(reading.originals[0] == "{\"u\":1,\"receipt\":\"\(a)\"}")
        #expect(reading.statistics.blankLines == 2)
        #expect(reading.statistics.records == 3)
    }

    @Test("a damaged line is a record with a problem and stops nothing, wherever it stands")
    func damagedLines() {
        let good = "{\"u\":1,\"receipt\":\"\(a)\"}"
        for bad in ["{\"u\":1,\"receipt\":\"MII", "{]", "{\"u\":01}", "{\"u\":\"\u{1}\"}", "{\"a\":1} x"] {
            #expect(Reading("\(good)\n\(bad)\n\(good)\n").kinds == ["receipt", "invalidJSON", "receipt"])
            #expect(Reading("\(bad)\n\(good)\n\(good)\n").kinds == ["invalidJSON", "receipt", "receipt"])
        }
        let invalid = Array("\(good)\n{\"u\":\"".utf8) + [0xFF] + Array("\"}\n\(good)".utf8)
        #expect(Reading([.bytes(invalid, name: "x")]).kinds == ["receipt", "invalidUTF8", "receipt"])
    }

    @Test("plain text: one receipt, JWS or id per line")
    func lines() {
        let reading = Reading("\(a)\n\(Made.jws)\r\n1000000123\n\n\(b)\nrubbish here\n")
        #expect(reading.kinds == ["receipt", "jws", "id 1000000123", "receipt", "unknownForm"])
        #expect(reading.places.last == "input, line 6")
    }

    @Test("a list of ids of the same width is not a wrapped receipt")
    func listOfIDs() {
        #expect(Reading("100000000000001\n100000000000002\n100000000000003\n").kinds.count == 3)
    }

    @Test(
        "a wrapped receipt is one record, at any width and line end",
        arguments: [20, 60, 64, 72, 76, 128, 400], ["\n", "\r\n"])
    func wrapped(width: Int, lineEnd: String) {
        for receipt in [a, Made.berReceipt(), Made.plistReceipt] where receipt.count > width {
            let text = Made.wrapped(receipt, at: width, lineEnd: lineEnd)
            let reading = Reading(text + lineEnd)
            #expect(reading.receipts == [text])
            #expect(reading.originals == [text])
        }
    }

    @Test("pieces of a wrapped receipt that happen to begin as a property list does are pieces")
    func accidentalStarts() {
        // "ewo" is `{` and a line feed, "eyJ" is `{"`, "MIA" an indefinite length.
        for accident in ["ewo/", "eyJ/", "MIA/", "e30K"] {
            let receipt = Made.receipt(9)
            let text = Made.wrapped(String(receipt.prefix(64)) + accident + String(receipt.dropFirst(68)), at: 64)
            #expect(Reading(text).receipts == [text])
        }
    }

    @Test("a line that begins with another SEQUENCE of the certificates is a piece, not a receipt")
    func certificatePolicies() {
        // SEQUENCE { OID 1.2.840.113635.100.5.1 }, as it stands in Apple's leaf certificates.
        let policies = Made.base64([
            0x30, 0x82, 0x01, 0x00, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x05, 0x01,
        ])
        let receipt = Made.receipt(9)
        let text = Made.wrapped(String(receipt.prefix(76)) + policies + String(receipt.dropFirst(96)), at: 76)
        #expect(Reading(text).receipts == [text])
    }

    @Test("a receipt whose length is a multiple of the width ends with its last full line")
    func wrappedExactly() {
        // 734 content bytes and a 4-byte header are 984 characters: 12 lines of 82.
        let receipt = Made.receipt(5, size: 734)
        let text = Made.wrapped(receipt, at: 82)
        #expect(receipt.count == 984)
        #expect(Reading(text + "\n" + text + "\n12345\n").receipts == [text, text, "-"])
    }

    @Test("wrapped receipts one after another, with and without blank lines, and mixed with whole ones")
    func severalWrapped() {
        let (x, y) = (Made.wrapped(a, at: 76), Made.wrapped(Made.berReceipt(), at: 64))
        #expect(Reading("\(x)\n\(y)\n\n\(c)\n\(x)\n").receipts == [x, y, c, x])
        #expect(Reading("\(x)\n\(y)\n\n\(c)\n\(x)\n").places.last == "input, line \(x.lineCount + y.lineCount + 3)")
    }

    @Test("whole receipts of equal length are not joined, nor are cut ones")
    func equalLengths() {
        #expect(Reading("\(a)\n\(b)\n\(c)\n").receipts == [a, b, c])
        let cut = [a, b, c].map { String($0.prefix(60)) }
        #expect(Reading(cut.joined(separator: "\n")).receipts == cut)
        #expect(Reading("\(a.prefix(60))\n12345\n\(b)").kinds == ["receipt", "id 12345", "receipt"])
    }

    @Test("nothing is joined when lines were asked for")
    func linesByOption() {
        let text = Made.wrapped(a, at: 76)
        #expect(Reading(text, options: .init(format: .lines)).records.count == text.lineCount)
        #expect(Reading(text, options: .init(format: .file)).receipts == [text])
    }

    @Test("text with nothing recognizable in it is one unrecognized record")
    func prose() {
        let reading = Reading("Read me\n\nThese are receipts, or so they say.\n2024\n")
        #expect(reading.kinds == ["unknownForm"])
        #expect(reading.places == ["input"])
        #expect(reading.originals == ["Read me\n\nThese are receipts, or so they say.\n2024\n"])
    }

    @Test("an empty input has no record and is counted")
    func emptyInput() {
        for text in ["", "\n\n", "\u{FEFF}"] {
            let reading = Reading(text)
            #expect(reading.records.isEmpty)
            #expect(reading.statistics.emptyInputs == 1)
        }
    }

    @Test("a JSON document over several lines is one record")
    func document() {
        let text = "{\n  \"status\": 0,\n  \"receipt\": {\"bundle_id\": \"b\"}\n}\n"
        let reading = Reading(text)
        #expect(reading.kinds == ["reply"])
        #expect(reading.places == ["input"])
        #expect(reading.originals == [text])
    }

    @Test("documents one after another are one record each")
    func documents() {
        let text = "{\n  \"status\": 0,\n  \"receipt\": {\"bundle_id\": \"b\"}\n}\n"
        let reading = Reading(text + text + text)
        #expect(reading.kinds == ["reply", "reply", "reply"])
        #expect(reading.places.last == "input, element 3")
    }

    @Test("an array of payloads is one record per element")
    func arrayOfEnvelopes() {
        let text = "[\n{\"u\":1,\"receipt\":\"\(a)\"},\n {\"u\":2,\"x\":[\"]\"]} , \"\(b)\",17,\(Made.reply)\n]\n"
        for options in [InputOptions(), InputOptions(format: .json)] {
            let reading = Reading(text, options: options)
            #expect(reading.kinds == ["receipt", "unknownForm", "receipt", "id 17", "reply"])
            #expect(reading.places[1] == "input, element 2")
            #expect(reading.originals[1] == "{\"u\":2,\"x\":[\"]\"]}")
            #expect(
                reading.records[1].place.byteOffset == text.utf8.count - Array(text.utf8).suffix(from: 0).count
                    + offset(of: "{\"u\":2", in: text))
        }
        #expect(Reading(text.replacing("\n", with: "")).records.count == 5)
    }

    private func offset(of part: String, in text: String) -> Int {
        text.range(of: part).map { text.utf8.distance(from: text.startIndex, to: $0.lowerBound) } ?? -1
    }

    @Test("an array in which nothing is recognized is one unrecognized record")
    func arrayOfAnything() {
        let reading = Reading("[\n {\"file\":\"a\"},\n {\"file\":\"b\"}\n]")
        #expect(reading.kinds == ["unknownForm"])
        #expect(reading.places == ["input"])
    }

    @Test("an array that ends early, and what follows an array, are records of their own")
    func brokenArrays() {
        #expect(Reading("[\"\(a)\",\"\(b)\"").kinds == ["receipt", "receipt", "truncatedInput"])
        #expect(Reading("[\"\(a)\",{\"receipt\":\"MI").kinds == ["receipt", "invalidJSON", "truncatedInput"])
        let rest = Reading("[\n\"\(a)\"]\n rest \n")
        #expect(rest.kinds == ["receipt", "invalidJSON"])
        #expect(rest.originals[1] == "rest \n")
        #expect(Reading("[\n\"\(a)\"]\n[\"\(b)\"]").kinds == ["receipt", "receipt"])
    }

    @Test("one array per line is one record per line")
    func arraysPerLine() {
        #expect(Reading("[\(Made.row)]\n[\(Made.row),\(Made.row)]\n").kinds == ["transactions", "transactions"])
    }

    @Test("a large array of rows is read element by element")
    func largeArrayOfRows() {
        let count = InputLimits.detectionWindow / Made.row.utf8.count + 10
        let reading = Reading("[" + [String](repeating: Made.row, count: count).joined(separator: ",") + "]")
        #expect(reading.records.count == count)
        #expect(Set(reading.kinds) == ["transactions"])
    }

    @Test("an array that may be too long for a record is read element by element, for any first elements")
    func largeArrayOfOthers() {
        let other = #"{"platform":"android","packageName":"c","purchaseToken":"t"}"#
        let count = InputLimits.detectionWindow / other.utf8.count + 10
        let elements = [String](repeating: other, count: count) + ["\"\(a)\""]
        let reading = Reading("[" + elements.joined(separator: ",") + "]")
        #expect(reading.records.count == count + 1)
        #expect(reading.receipts.last == a)
    }

    @Test("the size limit holds on both sides in every format, and a record over it stops nothing")
    func tooLarge() {
        let limit = 2000
        let small = "\"\(a)\""
        for (format, before, after) in [
            (InputFormat.ndjson, "", "\n\(small)\n"), (.lines, "", "\r\n\(a)"), (.json, "[\(small),", ",\(small)]"),
            (.file, "", ""), (.csv, "receipt,u\n", "\n\(a),1"),
        ] {
            for size in [limit - 1, limit, limit + 1, limit + 2, limit + 3, 100_000] {
                let record =
                    format == .csv
                    ? String(repeating: "x", count: size - 2) + ",1"
                    : "\"" + String(repeating: "x", count: size - 2) + "\""
                let text = before + record + after
                let reading = Reading(text, options: .init(format: format, maximumRecordSize: limit))
                let found = reading.records.first { $0.length == size }
                #expect(found != nil, "\(format) \(size)")
                #expect((found?.payload.kind == "tooLarge") == (size > limit), "\(format) \(size)")
                #expect(found?.original.count == min(size, size > limit ? InputLimits.oversizeExcerpt : size))
                if format != .file { #expect(reading.receipts.last == a, "\(format) \(size)") }
            }
        }
    }

    // MARK: Objects that are too long for a record

    private func user(_ number: Int) -> String {
        "\"u\(number)\":{\"receipt\":\"\(Made.receipt(number))\",\"n\":\(number)}"
    }

    private func reading(_ text: String, _ columns: [String] = [], format: InputFormat = .auto) -> Reading {
        Reading(text, options: InputOptions(format: format, otherColumns: columns, maximumRecordSize: 3_000))
    }

    @Test("an object that is too long for a record is read by its members, or those one level below, with their keys")
    func longObject() {
        let users = (1...12).map(user)
        for (before, between, after, column) in [
            ("{\"users\":{", ",", "}}", "users.*"), ("{\n  \"users\" : {\n    ", ",\n    ", "\n  }\n}\n", "users.*"),
            ("{", ",", "}", "*"), ("{\n", ",\n", "\n}", "*"),
        ] {
            let text = before + users.joined(separator: between) + after
            for columns in [[column], []] {
                let reading = reading(text, columns)
                #expect(reading.receipts == (1...12).map { Made.receipt($0) }, "\(before)")
                #expect(reading.places.first == "input, element 1" && reading.places.last == "input, element 12")
                #expect(reading.statistics.dividedInputs == 1 && reading.statistics.bytes == text.utf8.count)
                let bytes = Array(text.utf8)
                for (record, user) in zip(reading.records, users) {
                    #expect(bytes[record.place.byteOffset...].starts(with: user.utf8))
                    #expect(record.length == record.original.count)
                }
                guard !columns.isEmpty else { continue }
                let keys: [CarriedColumn.Value?] = (1...12).map { .text("u\($0)") }
                #expect(reading.records.map { $0.carried(column) } == keys)
            }
        }
        let compact = "{\"users\":{\(users.joined(separator: ","))}}"
        #expect(reading(compact).originals[2] == "{\"users\":{\(users[2])}}")
        // A short one is one record.
        #expect(Reading(compact).records.count == 1 && Reading(compact).statistics.dividedInputs == 0)
        // What follows it in other lines is read too.
        #expect(reading("\(compact)\n{\"receipt\":\"\(a)\"}\n").receipts.count == 13)
    }

    @Test("an object that is too long and may be one record or document is not torn apart, unless its keys are named")
    func longRecord() {
        let users = "{\((1...12).map(user).joined(separator: ","))}"
        let junk = "{\((1...400).map { "\"k\($0)\":{\"n\":1}" }.joined(separator: ","))}"
        for text in [
            "{\"id\":1,\"users\":\(users)}", "{\"receipt\":\(users)}", "{\"users\":[\(users)]}",
            "{\"u1\":\"\(a)\",\"u2\":\"\(String(repeating: "y", count: 4_000))\"}", junk,
        ] {
            #expect(reading(text).kinds == ["tooLarge"] && reading(text).places == ["input"], "\(text.prefix(40))")
        }
        for format in [InputFormat.file, .ndjson] {
            #expect(reading("{\"users\":\(users)}", ["users.*"], format: format).kinds == ["tooLarge"])
        }
        #expect(reading("{\"id\":1,\"users\":\(users)}", ["users.*"]).kinds.filter { $0 == "receipt" }.count == 12)
        #expect(reading(junk, ["*"]).records.count == 400)
        let texts = "{\((1...12).map { "\"u\($0)\":\"\(Made.receipt($0))\"" }.joined(separator: ","))}"
        #expect(reading(texts).kinds == ["tooLarge"] && reading(texts, ["*"]).receipts.count == 12)
    }

    @Test(
        "an array in an object is read by its elements, if a known program writes it or the object is too long for a record"
    )
    func listInObject() {
        let rows = (1...12).map { "{\"user_id\":\"u\($0)\",\"receipt\":\"\(Made.receipt($0))\"}" }
        let (lines, counts) = (rows.joined(separator: ",\n"), #""Count": 12,"ScannedCount":12,"ConsumedCapacity":null"#)
        for (text, limit) in [
            ("{\"RECORDS\":[\n\(lines)\n]}\n", InputLimits.recordSize), ("{\"RECORDS\":[\(lines)]}", 3_000),
            ("\n{ \"Items\" : [\(rows.joined(separator: ","))],\(counts)}", InputLimits.recordSize),
            ("{\n\"rows\":[\n\(lines)\n]\n}", 3_000), ("{\"rows\":[\(rows.joined(separator: ","))]}", 3_000),
        ] {
            for format in [InputFormat.auto, .json] {
                let options = InputOptions(
                    format: format, receiptColumns: ["receipt"], otherColumns: ["user_id"], maximumRecordSize: limit)
                let reading = Reading(text, options: options)
                #expect(reading.errors.isEmpty && reading.originals == rows, "\(text.prefix(40))")
                #expect(reading.receipts == (1...12).map { Made.receipt($0) })
                let users: [CarriedColumn.Value?] = (1...12).map { .text("u\($0)") }
                #expect(reading.records.map { $0.carried("user_id") } == users)
                #expect(reading.places.first == "input, element 1" && reading.places.last == "input, element 12")
                let bytes = Array(text.utf8)
                for (record, row) in zip(reading.records, rows) {
                    #expect(bytes[record.place.byteOffset...].starts(with: row.utf8))
                }
            }
        }
        let wrong = Reading("{\"RECORDS\":[\(lines)]}", options: InputOptions(receiptColumns: ["recipt"]))
        #expect(wrong.errors.map(\.code) == [.columnNotFound])
    }

    @Test(
        "an array in an object loses nothing: other members, a cut, a long element, and what follows")
    func restOfList() {
        let rows = (1...4).map { "{\"n\":\($0),\"receipt\":\"\(Made.receipt($0))\"}" }
        let list = rows.joined(separator: ",")
        // It may be one record of the caller.
        for text in [
            "{\"Items\":[\(list)],\"user_id\":\"u1\"}", "{\"user_id\":\"u1\",\"Items\":[\(list)]}",
            "{\"rows\":[\(list)]}",
        ] {
            #expect(Reading(text).originals == [text])
        }
        #expect(reading("{\"latest_receipt_info\":[\(list)]}").kinds == ["tooLarge"])
        #expect(reading("{\"rows\":[\(list),1]}").kinds.prefix(4) == ["receipt", "receipt", "receipt", "receipt"])
        // The output of a scan is only a part.
        let part = Reading("{\"Items\":[\(list)],\"Count\":4,\"LastEvaluatedKey\":{\"id\":{\"S\":\"x\"}}}")
        #expect(part.records.count == 5 && part.originals.last == "{\"LastEvaluatedKey\":{\"id\":{\"S\":\"x\"}}}")
        #expect(part.places.last == "input, element 5" && part.records.last?.length == part.originals.last?.utf8.count)
        for cut in ["{\"RECORDS\":[\(list)", "{\"RECORDS\":[\(list)]"] {
            #expect(Reading(cut).kinds == ["receipt", "receipt", "receipt", "receipt", "truncatedInput"])
        }
        let long = "{\"bio\":\"\(String(repeating: "y", count: 4_000))\"}"
        let between = reading("{\"RECORDS\":[\(rows[0]),\(long),\(rows[1])]}")
        #expect(between.kinds == ["receipt", "tooLarge", "receipt"])
        let followed = reading("{\"rows\":[\(list)]}\n{\"receipt\":\"\(a)\"}\nrest")
        #expect(followed.receipts == (1...4).map { Made.receipt($0) } + [a, "-"])
        #expect(followed.originals.last == "rest")
    }

    @Test(
        "an export of phpMyAdmin as JSON is read by the rows of its tables, however long it is",
        arguments: [64, 1 << 20])
    func phpMyAdmin(chunkSize: Int) {
        let rows = (1...12).map { "{\"id\":\"\($0)\",\"user_id\":\"u\($0)\",\"receipt\":\"\(Made.receipt($0))\"}" }
        let beginning = """
            [
            {"type":"header","version":"5.2.1","comment":"Export to JSON plugin for PHPMyAdmin"},
            {"type":"database","name":"shop"},
            {"type":"table","name":"users","database":"shop","data":
            [
            {"id":"1","name":"Ada"},
            {"id":"2","name":"\(Made.jws)"}
            ]
            }
            ,{"type":"table","name":"empty","database":"shop","data":[]}
            ,{"type":"table","name":"receipts","database":"shop","data":
            [
            \(rows.joined(separator: ",\n"))
            """
        for limit in [3_000, InputLimits.recordSize] {
            for columns in [[], ["receipt"]] {
                let options = InputOptions(
                    receiptColumns: columns, otherColumns: ["user_id"], maximumRecordSize: limit)
                let reading = Reading(beginning + "\n]\n}\n]\n", options: options, chunkSize: chunkSize)
                #expect(reading.errors.isEmpty && reading.originals.suffix(12) == rows[...])
                // Without a named column, the document in another table is read too.
                #expect(reading.records.count == (columns.isEmpty ? 13 : 12))
                #expect(reading.statistics.rowsOfOtherTables == (columns.isEmpty ? 1 : 2))
                #expect(reading.receipts.suffix(12) == (1...12).map { Made.receipt($0) }[...])
                #expect(reading.records.last?.carried("user_id") == .text("u12"))
                #expect(reading.places.last == "input, element 14")
            }
        }
        let cut = Reading(beginning, chunkSize: chunkSize)
        #expect(cut.kinds == ["jws"] + [String](repeating: "receipt", count: 12) + ["truncatedInput"])
        let wrong = Reading(beginning + "]}]", options: InputOptions(receiptColumns: ["recipt"]), chunkSize: chunkSize)
        #expect(wrong.records.isEmpty && wrong.errors.map(\.code) == [.columnNotFound])
        // phpMyAdmin writes the result of a query without a name.
        let query = Reading("[{\"type\":\"header\"},{\"type\":\"raw\",\"data\":[\(rows.joined(separator: ","))]}]")
        #expect(query.originals == rows)
        // Another array of objects with a type is not taken apart.
        let own = Reading("[{\"type\":\"table\",\"name\":\"x\",\"data\":[\(rows[0])]}]")
        #expect(own.records.count == 1)
    }

    @Test("a document or a user beside the descriptions of an export of phpMyAdmin is not passed over")
    func phpMyAdminWithOwnMembers() {
        let (a, b) = (Made.receipt(1), Made.receipt(2))
        let own = "{\"type\":\"header\",\"receipt\":\"\(a)\"}"
        let table = "{\"type\":\"table\",\"name\":\"t\",\"data\":[{\"receipt\":\"\(b)\"}]}"
        let first = Reading("[\(own),\(table)]")
        #expect(first.records.map(\.payload.kind).joined(separator: "+") == "receipt+receipt")
        let later = Reading("[{\"type\":\"header\",\"version\":\"5\"},\(table),\(own)]")
        #expect(later.receipts == [b, a])
        let user = "{\"type\":\"table\",\"user_id\":\"u1\",\"data\":[{\"receipt\":\"\(a)\"}]}"
        let users = Reading(
            "[{\"type\":\"header\"},\(user),\(table)]", options: InputOptions(otherColumns: ["user_id"]))
        #expect(users.records.contains { $0.carried("user_id") == .text("u1") })
    }

    @Test("an object of the caller with a long array named Items is one record, if it fits")
    func longOwnList() {
        let padding = String(repeating: ".", count: 3 * InputLimits.detectionWindow)
        let rows = [
            "{\"receipt\":\"\(Made.receipt(1))\",\"note\":\"\(padding)\"}", "{\"receipt\":\"\(Made.receipt(2))\"}",
        ]
        for space in ["", "\n"] {
            let list = "{\"Items\":[\(space)\(rows.joined(separator: "," + space))\(space)]"
            let own = Reading("\(list),\"user_id\":\"u1\"}", options: InputOptions(otherColumns: ["user_id"]))
            #expect(own.kinds == ["receipt+receipt"])
            #expect(own.records.first?.carried("user_id") == .text("u1"))
            // Otherwise its elements are records.
            let long = Reading(
                "\(list),\"user_id\":\"u1\"}", options: InputOptions(maximumRecordSize: InputLimits.detectionWindow))
            #expect(long.kinds.count > 1)
            let export = Reading("\(list),\"Count\":2}\n")
            #expect(export.kinds == ["receipt", "receipt"] && export.originals == rows)
        }
    }

    @Test("a member that is too long costs itself, and other members are records of their own")
    func longMembers() {
        let long = "\"u0\":{\"bio\":\"\(String(repeating: "y", count: 4_000))\"}"
        let users = ([user(1), long] + (2...5).map(user)).joined(separator: ",")
        let posts = "{\"n\":1,\"text\":\"\(String(repeating: "z", count: 4_000))\"}"
        let text = "{\"a\":{\"b\":{}},\"posts\":\(posts),\"users\":{\(users)},\"last\":{}}"
        for columns in [[], ["users.*"]] {
            let reading = reading(text, columns)
            #expect(
                reading.kinds == [
                    "unknownForm", "tooLarge", "receipt", "tooLarge", "receipt", "receipt", "receipt", "receipt",
                    "unknownForm",
                ])
            #expect(reading.originals[1] == "\"posts\":\(posts)" && reading.originals[3] == long)
            #expect(reading.originals.last == "{\"last\":{}}")
        }
    }

    @Test("an object that is too long and is damaged anywhere loses no receipt, and a cut-off object is reported")
    func damagedObject() {
        let text = "{\"users\":{\((1...12).map(user).joined(separator: ", "))}}"
        let receipts = (1...12).map { Made.receipt($0) }
        func check(_ bytes: [UInt8]) -> Reading {
            let options = InputOptions(otherColumns: ["users.*"], maximumRecordSize: 3_000)
            let reading = Reading([.bytes(bytes, name: "x")], options: options)
            let (given, found) = (String(decoding: bytes, as: UTF8.self), reading.originals.joined(separator: "\n"))
            for receipt in receipts where given.utf8.firstRange(of: Array(receipt.utf8)) != nil {
                #expect(found.utf8.firstRange(of: Array(receipt.utf8)) != nil)
            }
            return reading
        }
        for count in stride(from: 4_000, to: text.utf8.count, by: 1_111) {
            let reading = check(Array(text.utf8.prefix(count)))
            #expect(reading.kinds.last == "truncatedInput")
            let complete = receipts.count { receipt in reading.receipts.contains(receipt) }
            #expect(complete >= count / 1_100 - 1, "\(count)")
        }
        // A number that is cut off is not taken for a whole one.
        let cut = reading("{\"users\":{\((1...4).map(user).joined(separator: ",")),\"u5\":1000", ["users.*"])
        #expect(cut.kinds.suffix(2) == ["invalidJSON", "truncatedInput"])
        let rest = reading("{\"users\":{\((1...4).map(user).joined(separator: ","))}}, \(user(5))}")
        #expect(rest.kinds == ["receipt", "receipt", "receipt", "receipt", "invalidJSON"])
        #expect(rest.originals.last == ", \(user(5))}")
        var generator = SeededGenerator(seed: 3)
        func random(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
        let original = Array(text.utf8)
        let marks = original.indices.dropFirst().filter { "{}\":, ".utf8.contains(original[$0]) }
        let alphabet = Array("{}[]\":,\\ 1x".utf8)
        for _ in 0..<40 {
            var bytes = original
            for _ in 0..<2 { bytes[marks[random(marks.count)]] = alphabet[random(alphabet.count)] }
            _ = check(bytes)
        }
    }

    @Test("a NUL byte in a value makes neither a table nor NDJSON one binary record")
    func nullsInText() {
        let table = Reading("user_id,receipt\nu\0x,\(a)\nv,\(b)\n")
        #expect(table.receipts == [a, b] && table.records.first?.carried("user_id") == .text("u\0x"))
        let lines = Reading("{\"receipt\":\"\(a)\"}\n{\"receipt\":\"\0\(b)\"}\n{\"receipt\":\"\(c)\"}\n")
        #expect(lines.kinds == ["receipt", "invalidJSON", "receipt"])
        // Binary data has many of them, or other control characters.
        #expect(Reading("user_id,receipt\n\0\0\0,\u{2}\n").records.count == 1)
        #expect(Reading("id,receipt\n\0\u{2},\(a)\n").records.count == 1)
    }

    @Test("batches are bounded by records and by bytes")
    func batches() throws {
        let many = RecordSource([.bytes(Array(String(repeating: "1\n", count: 1000).utf8), name: "x")])
        #expect(try #require(try many.nextBatch()).count == InputLimits.batchRecords)
        let line = "\"" + String(repeating: "x", count: 300_000) + "\"\n"
        let large = RecordSource([.bytes(Array(String(repeating: line, count: 20).utf8), name: "x")])
        #expect(try #require(try large.nextBatch()).count == 7)
    }
}

extension String {
    var lineCount: Int { utf8.count { $0 == 0x0A } + 1 }
}
