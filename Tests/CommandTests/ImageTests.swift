import Foundation
import TestSupport
import Testing
import VerifyReceiptServer

/// The files of the Docker image, which is not built here.
@Suite struct ImageTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: PackageFolder.url.appending(path: path), encoding: .utf8)
    }

    /// The instructions of the Dockerfile, each in one line, in the two stages.
    private static func stages() throws -> (build: [String], image: [String]) {
        let lines = try text("tools/docker/Dockerfile").replacing("\\\n", with: " ")
            .split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
        let second = try #require(lines.lastIndex { $0.hasPrefix("FROM ") })
        return (Array(lines[..<second]), Array(lines[second...]))
    }

    /// What `apt-get install` of a stage names.
    private static func packages(_ instructions: [String]) -> Set<String> {
        var packages: Set<String> = []
        for instruction in instructions {
            guard let install = instruction.range(of: "apt-get install") else { continue }
            let rest = instruction[install.upperBound...]
            let end = rest.range(of: "&&")?.lowerBound ?? rest.endIndex
            packages.formUnion(rest[..<end].split(separator: " ").map(String.init).filter { !$0.hasPrefix("-") })
        }
        return packages
    }

    /// The image has Swift's libraries inside of the command. What these and the command need beside them has to be there.
    @Test(.enabled(if: ["readelf", "ldd", "dpkg"].allSatisfy(Command.hasProgram)))
    func theImageHasEveryLibraryThatTheCommandNeeds() async throws {
        // Each library with the file that it is found in; libraries of libraries are not followed, apart from Swift's.
        let outcome = try await Command.shell(
            #"""
            ldd "$COMMAND" | sed -n 's/^[[:space:]]*\([^ ]*\) => \([^ ]*\) .*/\1 \2/p' > found
            needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }
            needed "$COMMAND" > names
            while read -r name file; do
                case $file in */swift/*) needed "$file" >> names;; esac
            done < found
            sort -u names | while read -r name; do
                file=$(sed -n "s|^$name ||p" found | head -n 1)
                case $file in "" | */swift/*) continue;; esac
                dpkg -S "*/$name" | sed -n 's/^\([^:, ]*\)[:,].*/\1/p' | head -n 1
            done | sort -u
            """#, in: Folder())
        let needed = Set(outcome.output.split(separator: "\n").map(String.init))
        #expect(outcome.status == 0 && needed.contains("libsqlite3-0"), "\(outcome.output) \(outcome.error)")
        // In every image of Debian: nothing runs without them.
        let present: Set = ["libc6", "libgcc-s1"]
        // Debian 13 and Ubuntu 24.04 rename some packages.
        let missing = try needed.map { $0.replacing("t64", with: "") }.filter { !present.contains($0) }
            .filter { try !Self.packages(Self.stages().image).contains($0) }
        #expect(missing.isEmpty, "the Dockerfile does not install \(missing)")
    }

    @Test func packagesAreFetchedBeforeSourcesAreCopied() throws {
        let build = try Self.stages().build
        let manifest = try #require(build.firstIndex { $0.hasPrefix("COPY Package.swift") })
        let fetch = try #require(build.firstIndex { $0.contains("swift package resolve") })
        let sources = try #require(build.firstIndex { $0.hasPrefix("COPY Sources") })
        #expect(manifest < fetch && fetch < sources)
        #expect(build.allSatisfy { $0 != "COPY . ." })
    }

    /// Every folder that a target or a COPY needs reaches the build, and what is large or secret does not.
    @Test func filesThatTheBuildDoesNotNeedStayOutside() throws {
        let ignored = try Set(Self.text(".dockerignore").split(separator: "\n").map(String.init))
        for name in [".git", ".build"] { #expect(ignored.contains(name)) }
        for name in ["Sources", "Tests", "tools", "Package.swift", "Package.resolved"] {
            #expect(!ignored.contains(name))
        }
    }

    /// Who stops the server has to wait for as long as it may take.
    @Test func stopTimeoutsFitTheServers() throws {
        let unit = try Self.text("tools/systemd/legacy-receipts.service")
        let line = try #require(unit.split(separator: "\n").first { $0.hasPrefix("TimeoutStopSec=") })
        let seconds = try #require(Int(line.dropFirst("TimeoutStopSec=".count)))
        let configuration = VerifyReceiptServerConfiguration()
        let longest = configuration.timeouts.drain + configuration.timeouts.shutdown + ShutdownLimit.grace
        #expect(.seconds(seconds) > longest)
        let image = try Self.text("tools/docker/Dockerfile")
        #expect(image.contains("docker stop -t \(seconds)"))
    }
}
