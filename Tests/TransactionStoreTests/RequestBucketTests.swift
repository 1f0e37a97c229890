import AppStoreModels
import Purchases
import TestSupport
import Testing
import TransactionStore

@Suite("The rule of request budgets")
struct RequestBucketTests {
    private static let scope = StoreScope(environment: .production, bundleId: "com.example.app")
    private static let second: Int64 = 1_000_000
    private static let start: Int64 = 1_800_000_000 * second

    private static func budget(interval: Int64, burst: Int, reserve: Int = 0) -> RequestBudget {
        RequestBudget(scope: scope, endpoint: "history", interval: interval, burst: burst, reserve: reserve)
    }

    /// A program that takes permits in simulated time.
    private struct Program {
        let isUrgent: Bool
        /// When it takes permits next.
        var next: Int64
        /// Requests that wait for a permit, by the time at which they came.
        var waiting: [Int64] = []
        /// When the next request comes.
        var arrival: Int64
    }

    @Test("Several programs together stay within the limit in any window, and urgent requests do not wait for others")
    func simulation() throws {
        var generator = SeededGenerator(seed: 5)
        // 50 requests per second; the urgent programs have 24 in all.
        let interval: Int64 = 20_010
        let (urgent, background) = (
            Self.budget(interval: interval, burst: 25), Self.budget(interval: interval, burst: 25, reserve: 12)
        )
        var programs = (0..<5).map { number in
            Program(isUrgent: number < 2, next: Self.start, arrival: Self.start + Int64(number))
        }
        var bucket = RequestBucket(fullAt: 0)
        var grants: [(time: Int64, count: Int)] = []
        var (longest, urgentCount, backgroundCount) = (Int64(0), 0, 0)
        let end = Self.start + 5_000 * Self.second
        while let place = programs.indices.min(by: { programs[$0].next < programs[$1].next }),
            programs[place].next < end
        {
            let now = programs[place].next
            if programs[place].isUrgent {
                while programs[place].arrival <= now {
                    programs[place].waiting.append(programs[place].arrival)
                    programs[place].arrival += Int64.random(in: 1...2 * Self.second / 12, using: &generator)
                }
            }
            let isUrgent = programs[place].isUrgent
            let wanted = isUrgent ? programs[place].waiting.count : 32
            let permits = bucket.take(wanted, of: isUrgent ? urgent : background, now: now)
            grants.append((now, permits.count))
            if isUrgent {
                for came in programs[place].waiting.prefix(permits.count) { longest = max(longest, now - came) }
                programs[place].waiting.removeFirst(permits.count)
                urgentCount += permits.count
            } else {
                backgroundCount += permits.count
            }
            programs[place].next = isUrgent ? max(programs[place].arrival, now + 1) : now + max(100_000, permits.wait)
            if isUrgent, !programs[place].waiting.isEmpty { programs[place].next = now + 100_000 }
        }
        for length in [Self.second / 2, Self.second, 60 * Self.second, 3_600 * Self.second] {
            var (first, inside, most) = (0, 0, 0)
            for grant in grants {
                inside += grant.count
                while grants[first].time <= grant.time - length {
                    inside -= grants[first].count
                    first += 1
                }
                most = max(most, inside)
            }
            #expect(Int64(most) <= 25 + length / interval, "\(length) µs")
        }
        #expect(longest <= 300_000, "An urgent request waited \(longest) µs.")
        // The urgent programs have what they want, and the others the rest.
        #expect((110_000...130_000).contains(urgentCount) && backgroundCount > 100_000)
        #expect(urgentCount + backgroundCount > 240_000)
    }

    @Test("A bucket that was never used is full, and a clock that is set back empties it at most")
    func clocks() {
        let budget = Self.budget(interval: Self.second, burst: 3)
        var unused = RequestBucket(fullAt: 0)
        #expect(unused.take(9, of: budget, now: Self.start) == RequestPermits(count: 3, wait: 0))
        #expect(unused.take(9, of: budget, now: Self.start) == RequestPermits(count: 0, wait: Self.second))
        // An hour back.
        let back = Self.start - 3_600 * Self.second
        #expect(unused.take(9, of: budget, now: back) == RequestPermits(count: 0, wait: Self.second))
        var later = RequestBucket(fullAt: Self.start)
        #expect(later.take(9, of: budget, now: back + 2 * Self.second).count == 0)
        // What the first call wrote is not more than a full bucket ahead.
        #expect(later.hasChanged && later.fullAt <= back + 5 * Self.second)
        #expect(later.take(9, of: budget, now: back + 4 * Self.second).count == 2)
        // And an hour forward: full, and not more.
        #expect(later.take(9, of: budget, now: Self.start).count == 3)
        var empty = RequestBucket(fullAt: Self.start + 3 * Self.second)
        #expect(empty.take(1, of: budget, now: Self.start).count == 0 && !empty.hasChanged)
        for fullAt in [Int64.min, .max] {
            for now in [Int64.min, 0, .max] {
                var bucket = RequestBucket(fullAt: fullAt)
                #expect((0...3).contains(bucket.take(9, of: budget, now: now).count))
            }
        }
    }

    @Test("Numbers of a budget that make no sense are clamped")
    func clamped() {
        let none = Self.budget(interval: 0, burst: 0, reserve: 7)
        #expect(none.interval == 1 && none.burst == 1 && none.reserve == 0)
        let huge = Self.budget(interval: .max, burst: .max, reserve: .max)
        var bucket = RequestBucket(fullAt: 0)
        #expect(bucket.take(.max, of: huge, now: Self.start).count == 1)
        #expect(bucket.take(.max, of: huge, now: Self.start).count == 0)
    }
}
