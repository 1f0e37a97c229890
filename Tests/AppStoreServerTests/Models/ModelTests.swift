import AppStoreModels
import Foundation
import Testing

@Suite struct ServerAPIModelTests {
    private func object(_ value: some Encodable) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? NSDictionary)
    }

    private func object(_ json: String) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? NSDictionary)
    }

    private func read<Model: Decodable>(_ type: Model.Type, _ json: String) throws -> Model {
        try JSONDecoder().decode(type, from: Data(json.utf8))
    }

    @Test("Unknown members of a response are kept at every level and written again")
    func unknownMembers() throws {
        let json = """
            {"environment":"Moon","newText":"x","newList":[1,-2.5,true,null,{"a":[]},"é"],"big":18446744073709551615,
             "data":[{"newFlag":false,"lastTransactions":[{"status":9,"newObject":{"deep":{"er":1}}}]}]}
            """
        let response = try read(StatusResponse.self, json)
        #expect(response.environment?.rawValue == "Moon" && response.environment?.isKnown == false)
        #expect(response.data?.first?.lastTransactions?.first?.status?.rawValue == 9)
        #expect(response.unknownMembers.names == ["big", "newList", "newText"])
        #expect(response.data?.first?.unknownMembers.names == ["newFlag"])
        #expect(try object(response) == object(json))
        #expect(
            try read(StatusResponse.self, String(decoding: JSONEncoder().encode(response), as: UTF8.self)) == response)
    }

    @Test("Seats are read with everything that Apple adds, and requests leave out what is nil")
    func seats() throws {
        let json = #"{"totalSeatCount":3,"availableSeatCount":1,"assignedSeatClaimIds":["a","b"],"new":{"x":[1]}}"#
        let info = try read(GetSeatInfoResponse.self, json)
        #expect(info.totalSeatCount == 3 && info.availableSeatCount == 1 && info.assignedSeatClaimIds == ["a", "b"])
        #expect(try object(info) == object(json))
        let claim = try read(ClaimSeatResponse.self, #"{"seatClaimId":"a","new":2}"#)
        #expect(claim.seatClaimId == "a" && claim.unknownMembers.names == ["new"])
        #expect(try object(ClaimSeatRequest(requestIdentifier: "r")) == object(#"{"requestIdentifier":"r"}"#))
        #expect(
            try object(ClaimSeatRequest(requestIdentifier: "r", appTransactionId: "7"))
                == object(#"{"requestIdentifier":"r","appTransactionId":"7"}"#))
        #expect(try object(AssociateSeatRequest(appTransactionId: "7")) == object(#"{"appTransactionId":"7"}"#))
    }

    @Test("null counts as absent, and what is absent is not written")
    func absent() throws {
        let response = try read(HistoryResponse.self, #"{"revision":null,"hasMore":false,"appAppleId":null}"#)
        #expect(response == HistoryResponse { $0.hasMore = false })
        #expect(try object(response) == object(#"{"hasMore":false}"#))
    }

    @Test("A date with a fraction is cut off toward zero")
    func fraction() throws {
        let response = try read(ExtendRenewalDateResponse.self, #"{"effectiveDate":1697680122257.447}"#)
        #expect(response.effectiveDate == 1_697_680_122_257)
    }

    @Test("A member of a wrong type is an error")
    func wrongType() {
        #expect(throws: DecodingError.self) { try read(HistoryResponse.self, #"{"hasMore":"true"}"#) }
        #expect(throws: DecodingError.self) { try read(StatusResponse.self, #"{"data":{}}"#) }
    }

    @Test("Consumption request V1 writes an empty token if there is none, and reads it back as none")
    func emptyToken() throws {
        let request = ConsumptionRequestV1(
            customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered)
        let json = try object(request)
        #expect(json["appAccountToken"] as? String == "")
        #expect(json.count == 11, "Everything but refundPreference.")
        #expect(try JSONDecoder().decode(ConsumptionRequestV1.self, from: JSONEncoder().encode(request)) == request)
        let full = Requests.consumptionV1
        #expect(try object(full).count == 12)
        #expect(try JSONDecoder().decode(ConsumptionRequestV1.self, from: JSONEncoder().encode(full)) == full)
    }

    @Test("Consumption request V2 leaves out what is nil")
    func consumption() throws {
        let request = ConsumptionRequest(
            customerConsented: true, deliveryStatus: .delivered, sampleContentProvided: true)
        #expect(
            try object(request)
                == object(#"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":true}"#))
    }

    @Test("In-app requests are read back, and only with their own operation and version")
    func operations() throws {
        let data = try JSONEncoder().encode(Requests.modify)
        #expect(
            try JSONDecoder().decode(AdvancedCommerceSubscriptionModifyInAppRequest.self, from: data) == Requests.modify
        )
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(AdvancedCommerceSubscriptionReactivateInAppRequest.self, from: data)
        }
        for request in [Requests.create] {
            let data = try JSONEncoder().encode(request)
            #expect(try JSONDecoder().decode(AdvancedCommerceSubscriptionCreateRequest.self, from: data) == request)
        }
    }

    @Test("A mass extension without storefronts is for all; an empty list would be refused and is written as given")
    func storefronts() throws {
        var request = Requests.massExtend
        request.storefrontCountryCodes = nil
        #expect(try object(request)["storefrontCountryCodes"] == nil)
        request.storefrontCountryCodes = []
        #expect((try object(request)["storefrontCountryCodes"] as? NSArray)?.count == 0)
    }
}
