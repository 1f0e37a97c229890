import ArgumentParser

/// The exit codes of every command.
enum ExitStatus {
    static let usageOrIO = ExitCode(2)
    /// `migrate`: some records were quarantined.
    static let someQuarantined = ExitCode(1)
    /// `notifications backfill`: some were not stored.
    static let someRefused = ExitCode(1)
    /// `ledger follow`: the command of a batch failed too often.
    static let commandFailed = ExitCode(1)
    /// `customer`: no customer has the id.
    static let noCustomer = ExitCode(1)
    /// `store check`: something in the store is damaged.
    static let storeDamaged = ExitCode(1)
    /// `app-store consumption dismiss`: some requests are not open.
    static let notOpen = ExitCode(1)
    /// `inspect`: a document that is not genuine, not signed, or belongs to another app or device.
    static let notGenuine = ExitCode(1)
    /// `app-store`: the App Store refused the request.
    static let refusedByAppStore = ExitCode(1)
    /// `app-store`: the answer has signed data that is not genuine.
    static let answerNotGenuine = ExitCode(3)
    /// `inspect`: not a document of the App Store, or one too damaged to be read.
    static let notAReceipt = ExitCode(3)
}
