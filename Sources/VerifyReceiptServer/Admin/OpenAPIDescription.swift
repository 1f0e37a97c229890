/// The OpenAPI description of the verifyReceipt listeners, served at `/openapi.json` of the admin listener.
///
/// The file `tools/openapi/openapi.json` is the same text, for tools; a test compares the two.
package enum OpenAPIDescription {
    package static let text = #"""
        {
          "openapi": "3.0.3",
          "info": {
            "title": "verifyReceipt",
            "version": "1.0.0",
            "description": "Answers as Apple's verifyReceipt did. Results of the protocol always come with HTTP 200 and a status in the body; other HTTP statuses mean that the request did not reach the endpoint."
          },
          "paths": {
            "/verifyReceipt": {
              "post": {
                "operationId": "verifyReceipt",
                "summary": "Verify a receipt (production).",
                "description": "Answers as buy.itunes.apple.com; with a sandbox host name as sandbox.itunes.apple.com. The body is read as JSON; the Content-Type is ignored.",
                "parameters": [{"$ref": "#/components/parameters/RequestId"}],
                "requestBody": {"$ref": "#/components/requestBodies/Request"},
                "responses": {
                  "200": {"$ref": "#/components/responses/Reply"},
                  "400": {"$ref": "#/components/responses/NotHTTP"},
                  "408": {"$ref": "#/components/responses/TooSlow"},
                  "413": {"$ref": "#/components/responses/TooLarge"},
                  "415": {"$ref": "#/components/responses/Encoded"},
                  "429": {"$ref": "#/components/responses/TooMany"},
                  "503": {"$ref": "#/components/responses/Unavailable"}
                }
              },
              "get": {
                "operationId": "verifyReceiptGet",
                "summary": "Any method but POST gives 21000.",
                "responses": {"200": {"$ref": "#/components/responses/NotAPost"}}
              }
            },
            "/WebObjects/MZFinance.woa/wa/verifyReceipt": {
              "post": {
                "operationId": "verifyReceiptWebObjects",
                "summary": "Verify a receipt (production).",
                "description": "The path behind /verifyReceipt, which some old clients use. The body is read as JSON; the Content-Type is ignored.",
                "parameters": [{"$ref": "#/components/parameters/RequestId"}],
                "requestBody": {"$ref": "#/components/requestBodies/Request"},
                "responses": {
                  "200": {"$ref": "#/components/responses/Reply"},
                  "400": {"$ref": "#/components/responses/NotHTTP"},
                  "408": {"$ref": "#/components/responses/TooSlow"},
                  "413": {"$ref": "#/components/responses/TooLarge"},
                  "415": {"$ref": "#/components/responses/Encoded"},
                  "429": {"$ref": "#/components/responses/TooMany"},
                  "503": {"$ref": "#/components/responses/Unavailable"}
                }
              },
              "get": {
                "operationId": "verifyReceiptWebObjectsGet",
                "summary": "Any method but POST gives 21000.",
                "responses": {"200": {"$ref": "#/components/responses/NotAPost"}}
              }
            },
            "/sandbox/verifyReceipt": {
              "post": {
                "operationId": "verifyReceiptSandbox",
                "summary": "Verify a receipt (sandbox).",
                "description": "Answers as sandbox.itunes.apple.com. The body is read as JSON; the Content-Type is ignored.",
                "parameters": [{"$ref": "#/components/parameters/RequestId"}],
                "requestBody": {"$ref": "#/components/requestBodies/Request"},
                "responses": {
                  "200": {"$ref": "#/components/responses/Reply"},
                  "400": {"$ref": "#/components/responses/NotHTTP"},
                  "408": {"$ref": "#/components/responses/TooSlow"},
                  "413": {"$ref": "#/components/responses/TooLarge"},
                  "415": {"$ref": "#/components/responses/Encoded"},
                  "429": {"$ref": "#/components/responses/TooMany"},
                  "503": {"$ref": "#/components/responses/Unavailable"}
                }
              },
              "get": {
                "operationId": "verifyReceiptSandboxGet",
                "summary": "Any method but POST gives 21000.",
                "responses": {"200": {"$ref": "#/components/responses/NotAPost"}}
              }
            },
        \#(notificationPaths)
          },
          "components": {
            "parameters": {
              "RequestId": {
                "name": "X-Request-Id",
                "in": "header",
                "required": false,
                "description": "A name for the request. Anything that does not match is replaced.",
                "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"}
              }
            },
            "requestBodies": {
              "Request": {
                "required": true,
                "content": {
                  "application/json": {
                    "schema": {"$ref": "#/components/schemas/Request"},
                    "examples": {
                      "foobar": {
                        "summary": "Not a receipt: status 21002.",
                        "value": {"receipt-data": "Zm9vYmFy"}
                      }
                    }
                  }
                }
              },
        \#(notificationBodies)
            },
            "responses": {
              "Reply": {
                "description": "Every result of verifyReceipt, errors included.",
                "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Reply"}}}
              },
              "NotAPost": {
                "description": "21000.",
                "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NotAPost"}}}
              },
              "NotHTTP": {"description": "Not HTTP, or not exactly one valid Host: the connection is closed."},
              "TooSlow": {
                "description": "Header or body did not come in time (timeouts): the connection is closed.",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              },
              "TooLarge": {
                "description": "The body has more than 3,145,728 bytes (limits.body-bytes).",
                "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              },
              "Encoded": {
                "description": "The body has a Content-Encoding other than identity.",
                "headers": {
                  "X-Request-Id": {"$ref": "#/components/headers/RequestId"},
                  "Accept-Encoding": {"description": "identity.", "schema": {"type": "string"}}
                },
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              },
              "TooMany": {
                "description": "21005: too many requests at the same time from one client behind a trusted proxy (limits.connections-per-address). Requests whose X-Forwarded-For or Forwarded is invalid, or whose headers contradict each other, count for their proxy.",
                "headers": {
                  "X-Request-Id": {"$ref": "#/components/headers/RequestId"},
                  "Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}
                },
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Unavailable"}}}
              },
              "Unavailable": {
                "description": "There is no room for the request: ask again.",
                "headers": {
                  "X-Request-Id": {"$ref": "#/components/headers/RequestId"},
                  "Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}
                },
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Unavailable"}}}
              },
        \#(notificationResponses)
            },
            "headers": {
              "RequestId": {
                "description": "The request's name in the logs: the client's own, or a new one.",
                "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"}
              }
            },
            "schemas": {
              "Request": {
                "type": "object",
                "required": ["receipt-data"],
                "properties": {
                  "receipt-data": {
                    "type": "string",
                    "description": "The receipt in base64: an app receipt (PKCS #7) or an iOS 6 transaction receipt."
                  },
                  "password": {"type": "string", "description": "The app's shared secret, or the account's."},
                  "exclude-old-transactions": {
                    "description": "Only the newest transaction of each subscription in latest_receipt_info.",
                    "oneOf": [{"type": "boolean"}, {"type": "string", "enum": ["true", "false"]}]
                  }
                }
              },
              "Status": {
                "type": "integer",
                "description": "0: genuine. 21000: not a POST. 21002: receipt-data is malformed or missing. 21003: not authentic. 21004: wrong shared secret. 21005: ask again. 21006: iOS 6 subscription expired. 21007: sandbox receipt at production. 21008: production receipt at sandbox. 21009 and 21100 to 21199: internal data access error. 21010: account not found.",
                "minimum": 0,
                "maximum": 21199
              },
              "Environment": {"type": "string", "enum": ["Production", "Sandbox"]},
              "Transaction": {
                "type": "object",
                "description": "A purchase; nearly every value is a string, numbers included.",
                "properties": {
                  "quantity": {"type": "string"},
                  "product_id": {"type": "string"},
                  "transaction_id": {"type": "string"},
                  "original_transaction_id": {"type": "string"},
                  "purchase_date": {"type": "string"},
                  "purchase_date_ms": {"type": "string"},
                  "purchase_date_pst": {"type": "string"},
                  "expires_date": {"type": "string"},
                  "expires_date_ms": {"type": "string"},
                  "is_trial_period": {"type": "string", "enum": ["true", "false"]}
                }
              },
              "Reply": {
                "type": "object",
                "required": ["status"],
                "properties": {
                  "status": {"$ref": "#/components/schemas/Status"},
                  "environment": {"$ref": "#/components/schemas/Environment"},
                  "receipt": {"type": "object", "description": "The content of the receipt."},
                  "latest_receipt": {"type": "string", "description": "The newest receipt known, in base64."},
                  "latest_receipt_info": {
                    "description": "The customer's transactions in the order of endpoint.order; one object for iOS 6 receipts.",
                    "oneOf": [
                      {"type": "array", "items": {"$ref": "#/components/schemas/Transaction"}},
                      {"type": "object"}
                    ]
                  },
                  "latest_expired_receipt_info": {"type": "object"},
                  "pending_renewal_info": {"type": "array", "items": {"type": "object"}},
                  "auto_renew_status": {"type": "integer", "enum": [0, 1]},
                  "is_retryable": {"type": "boolean"},
                  "is-retryable": {"type": "boolean"},
                  "exception": {"type": "string"}
                }
              },
              "NotAPost": {
                "type": "object",
                "required": ["status"],
                "properties": {"status": {"type": "integer", "enum": [21000]}}
              },
              "Unavailable": {
                "type": "object",
                "required": ["status"],
                "properties": {"status": {"type": "integer", "enum": [21005]}}
              },
              "Problem": {
                "type": "object",
                "description": "RFC 9457.",
                "required": ["title", "status"],
                "properties": {
                  "type": {"type": "string"},
                  "title": {"type": "string"},
                  "status": {"type": "integer"},
                  "detail": {"type": "string"}
                }
              },
        \#(notificationSchemas)
            }
          }
        }
        """#
}

/// The part of the description about App Store Server Notifications.
extension OpenAPIDescription {
    static let notificationPaths = #"""
            "/notifications/v2": {
              "post": {
                "operationId": "notificationV2",
                "summary": "Take in an App Store Server Notification, version 2.",
                "description": "200 means that the notification is stored. The App Store sends again after 503. 404 where notifications are switched off.",
                "parameters": [{"$ref": "#/components/parameters/RequestId"}],
                "requestBody": {"$ref": "#/components/requestBodies/NotificationV2"},
                "responses": {
                  "200": {"$ref": "#/components/responses/Stored"},
                  "400": {"$ref": "#/components/responses/NotANotification"},
                  "403": {"$ref": "#/components/responses/Refused"},
                  "404": {"$ref": "#/components/responses/Refused"},
                  "408": {"$ref": "#/components/responses/TooSlow"},
                  "413": {"$ref": "#/components/responses/TooLarge"},
                  "415": {"$ref": "#/components/responses/Encoded"},
                  "503": {"$ref": "#/components/responses/SendAgain"}
                }
              }
            },
            "/notifications/v1": {
              "post": {
                "operationId": "notificationV1",
                "summary": "Take in an App Store Server Notification, version 1.",
                "description": "As version 2; off unless configured (notifications.v1).",
                "parameters": [{"$ref": "#/components/parameters/RequestId"}],
                "requestBody": {"$ref": "#/components/requestBodies/NotificationV1"},
                "responses": {
                  "200": {"$ref": "#/components/responses/Stored"},
                  "400": {"$ref": "#/components/responses/NotANotification"},
                  "403": {"$ref": "#/components/responses/Refused"},
                  "404": {"$ref": "#/components/responses/Refused"},
                  "408": {"$ref": "#/components/responses/TooSlow"},
                  "413": {"$ref": "#/components/responses/TooLarge"},
                  "415": {"$ref": "#/components/responses/Encoded"},
                  "503": {"$ref": "#/components/responses/SendAgain"}
                }
              }
            }
        """#

    static let notificationBodies = #"""
              "NotificationV2": {
                "required": true,
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NotificationV2"}}}
              },
              "NotificationV1": {
                "required": true,
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/NotificationV1"}}}
              }
        """#

    static let notificationResponses = #"""
              "Stored": {
                "description": "The notification is stored, now or before.",
                "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
                "content": {"application/json": {"schema": {"type": "object", "maxProperties": 0}}}
              },
              "NotANotification": {
                "description": "The body is not a notification, or not HTTP: then the connection is closed.",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              },
              "Refused": {
                "description": "403: not genuine, a wrong shared secret, or of an app that is not served here. 404: switched off.",
                "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              },
              "SendAgain": {
                "description": "There is no room for the notification, or the store did not take it.",
                "headers": {
                  "X-Request-Id": {"$ref": "#/components/headers/RequestId"},
                  "Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}
                },
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              }
        """#

    static let notificationSchemas = #"""
              "NotificationV2": {
                "type": "object",
                "required": ["signedPayload"],
                "properties": {
                  "signedPayload": {
                    "type": "string",
                    "pattern": "^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$",
                    "description": "The notification as compact JWS (responseBodyV2)."
                  }
                }
              },
              "NotificationV1": {
                "type": "object",
                "required": ["notification_type", "password"],
                "properties": {
                  "notification_type": {"type": "string"},
                  "password": {"type": "string", "description": "The app's shared secret, or the account's."},
                  "environment": {"type": "string"},
                  "bid": {"type": "string"},
                  "unified_receipt": {"type": "object"}
                }
              }
        """#
}
