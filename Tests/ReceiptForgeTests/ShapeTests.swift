import Foundation
import ReceiptForge
import SharedReceipts
import Testing

/// A definite-length reader for the shapes of containers; the tests' own, so that the forge does not check itself.
struct Node {
    let tag: UInt8
    let contents: [UInt8]

    static func list(_ bytes: [UInt8]) -> [Node]? {
        var nodes: [Node] = []
        var rest = bytes[...]
        while let tag = rest.popFirst() {
            guard let first = rest.popFirst() else { return nil }
            var length = Int(first)
            if first > 0x80 {
                guard first <= 0x84 else { return nil }
                length = rest.prefix(Int(first & 0x7F)).reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(Int(first & 0x7F))
            }
            guard first != 0x80, rest.count >= length else { return nil }
            nodes.append(Node(tag: tag, contents: Array(rest.prefix(length))))
            rest = rest.dropFirst(length)
        }
        return nodes
    }

    var children: [Node] { Node.list(contents) ?? [] }
    var number: Int { contents.reduce(0) { $0 << 8 | Int($1) } }

    /// The parts of the SignedData in a ContentInfo.
    static func signedData(_ container: [UInt8]) -> [Node] {
        list(container)?.first?.children.last?.children.first?.children ?? []
    }

    /// The attributes of the content: type, version, and the tags of the value's encoding.
    static func attributes(_ container: [UInt8]) -> [(type: Int, version: Int, value: [UInt8])] {
        let parts = signedData(container)
        guard parts.count > 2 else { return [] }
        let bytes = parts[2].children.last?.children.first?.contents ?? []
        return attributes(set: bytes)
    }

    static func attributes(set bytes: [UInt8]) -> [(type: Int, version: Int, value: [UInt8])] {
        (list(bytes)?.first?.children ?? []).compactMap { attribute in
            let parts = attribute.children
            return parts.count == 3 ? (parts[0].number, parts[1].number, parts[2].contents) : nil
        }
    }

    /// Tags down to a depth, without what they hold.
    func skeleton(depth: Int) -> String {
        guard depth > 0, tag & 0x20 != 0 else { return String(tag, radix: 16) }
        return String(tag, radix: 16) + "(" + children.map { $0.skeleton(depth: depth - 1) }.joined(separator: " ")
            + ")"
    }
}

@Suite("The shape of forged receipts is that of real ones", .enabled(if: SharedReceipts.arePresent))
struct ShapeTests {
    @Test(
        "attributes have the version and the kind of value that real ones have", arguments: ["production", "sandbox"])
    func attributesAgree(folder: String) throws {
        var seen: [Int: Set<[Int]>] = [:]
        func kind(_ attribute: (type: Int, version: Int, value: [UInt8])) -> [Int] {
            [attribute.version, (4...7).contains(attribute.type) ? -1 : Int(attribute.value.first ?? 0)]
        }
        for receipt in try RealReceipts.all(in: folder) {
            for attribute in Node.attributes(receipt) {
                seen[attribute.type, default: []].insert(kind(attribute))
                guard attribute.type == 17 else { continue }
                for inner in Node.attributes(set: attribute.value) { seen[inner.type, default: []].insert(kind(inner)) }
            }
        }
        #expect(seen.count > 35)
        let name = folder == "production" ? "production-sha256" : "sandbox-sha256"
        let forged = Node.attributes(try #require(Catalog.named(name).container))
        #expect(forged.count > 20)
        for attribute in forged + forged.filter({ $0.type == 17 }).flatMap({ Node.attributes(set: $0.value) }) {
            #expect(seen[attribute.type]?.contains(kind(attribute)) == true, "attribute \(attribute.type)")
        }
    }

    @Test("a forged container has the skeleton of a real one of its generation")
    func skeletonsAgree() throws {
        func skeleton(_ container: [UInt8]) -> String {
            let parts = Node.signedData(container)
            guard parts.count == 5 else { return "" }
            return [
                parts[0].skeleton(depth: 1), parts[1].skeleton(depth: 3), parts[2].skeleton(depth: 2),
                parts[3].skeleton(depth: 1), parts[4].skeleton(depth: 2),
            ].joined(separator: " | ")
        }
        let real = Set(try RealReceipts.all(in: "production").map(skeleton))
        #expect(real.count == 1)
        for name in ["production-sha256", "production-sha1", "production-2014", "mac", "sandbox-sha1"] {
            #expect(real.contains(skeleton(try #require(Catalog.named(name).container))), "\(name)")
        }
    }

    @Test("sets are in DER order, as real ones are")
    func setsAreSorted() throws {
        for name in ["production-sha256", "every-product-type", "auto-renewable-renewals"] {
            let forged = Node.attributes(try #require(Catalog.named(name).container))
            let encoded = forged.map {
                DERWriter.sequence(
                    DERWriter.integer(Int64($0.type)), DERWriter.integer(Int64($0.version)),
                    DERWriter.octetString($0.value))
            }
            #expect(encoded == encoded.sorted { $0.lexicographicallyPrecedes($1) }, "\(name)")
        }
    }

    @Test("a receipt of Xcode begins as a real one does and has its attributes in its order")
    func xcodeShape() throws {
        let forged = try #require(Catalog.named("xcode").container)
        for real in try RealReceipts.all(in: "xcode") {
            #expect(Array(real.prefix(54)) == Array(forged.prefix(54)))
        }
    }
}
