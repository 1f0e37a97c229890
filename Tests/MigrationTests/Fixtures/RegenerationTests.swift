#if os(macOS) || os(Linux)
    import Foundation
    import Testing
    import TestSupport
    import TestTraits

    /// The tool that forges the fixtures.
    @Suite("Regenerating the fixtures", .computing)
    struct RegenerationTests {
        /// Beside the tests, where the build puts all products.
        private static func tool() throws -> URL {
            let tests = [Bundle.main.executableURL, CommandLine.arguments.first.map { URL(fileURLWithPath: $0) }]
            let bundles = Bundle.allBundles.map(\.bundleURL)
            let folders = (tests.compactMap { $0 } + bundles).map { $0.deletingLastPathComponent() }
            let candidates = folders.map { $0.appending(path: "legacy-receipts-fixtures") }
            return try #require(candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) })
        }

        private static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
            let outcome = try ChildProcess.runWhileBlocking(try tool().path, arguments)
            return (outcome.status, outcome.output + outcome.errors)
        }

        /// Every file by its path.
        private static func tree(_ folder: URL) throws -> [String: Data] {
            var tree: [String: Data] = [:]
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
                var isFolder: ObjCBool = false
                let file = folder.appending(path: path)
                let exists = FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder)
                if exists, !isFolder.boolValue { tree[path] = try Data(contentsOf: file) }
            }
            return tree
        }

        @Test("The tree in the repository is what the tool makes")
        func check() throws {
            let (status, output) = try Self.run(["--check", FixtureStore.root.path])
            #expect(status == 0, "\(output)")
        }

        @Test("Made anew elsewhere it is the same, damage is found and mended, and what people added stays")
        func anew() throws {
            let folder = try TemporaryFolder()
            try FileManager.default.copyItem(
                at: FixtureStore.root.appending(path: "products.yaml"), to: folder.url.appending(path: "products.yaml"))
            #expect(try Self.run([folder.path]).status == 0)
            let forged = try Self.tree(folder.url)
            let committed = try Self.tree(FixtureStore.root)
            for (path, data) in forged { #expect(committed[path] == data, "\(path)") }
            #expect(forged.count > 600)

            let added = folder.url.appending(path: "a-hand-made-case")
            try FileManager.default.createDirectory(at: added, withIntermediateDirectories: true)
            try Data("hand-made".utf8).write(to: added.appending(path: "receipt.txt"))
            try Data("a note".utf8).write(to: folder.url.appending(path: "consumable/notes"))
            try FileManager.default.removeItem(at: folder.url.appending(path: "consumable/README"))
            try Data("damaged".utf8).write(to: folder.url.appending(path: "xcode/receipt.b64"))
            try Data("left over".utf8).write(to: folder.url.appending(path: "xcode/receipt.der"))
            let (status, output) = try Self.run(["--check", folder.path])
            #expect(status == 1)
            #expect(
                output.split(separator: "\n").dropLast() == [
                    "missing: consumable/README", "changed: xcode/receipt.b64", "stale: xcode/receipt.der",
                ])
            #expect(try Self.run([folder.path]).status == 0)
            var expected = forged
            expected["a-hand-made-case/receipt.txt"] = Data("hand-made".utf8)
            expected["consumable/notes"] = Data("a note".utf8)
            #expect(try Self.tree(folder.url) == expected)
        }

        @Test("A folder that the forge does not make any more is removed, by the list that names it")
        func stale() throws {
            let folder = try TemporaryFolder()
            try FileManager.default.copyItem(
                at: FixtureStore.root.appending(path: "products.yaml"), to: folder.url.appending(path: "products.yaml"))
            try Data("old-case\n../elsewhere\n".utf8).write(to: folder.url.appending(path: "forged-cases.txt"))
            let old = folder.url.appending(path: "old-case")
            try FileManager.default.createDirectory(at: old, withIntermediateDirectories: true)
            try Data("old".utf8).write(to: old.appending(path: "README"))
            #expect(try Self.run([folder.path]).status == 0)
            #expect(!FileManager.default.fileExists(atPath: old.path))
        }

        @Test("Without a catalog, or with an unknown option, it prints the error and does nothing")
        func misuse() throws {
            let folder = try TemporaryFolder()
            let (status, output) = try Self.run([folder.path])
            #expect(status == 2)
            #expect(output.contains("products.yaml"))
            #expect(try Self.run(["--chekc", folder.path]).status == 2)
            #expect(try Self.tree(folder.url).isEmpty)
            #expect(try Self.run(["--help"]).status == 0)
        }
    }
#endif
