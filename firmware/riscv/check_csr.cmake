# SPDX-License-Identifier: Apache-2.0
# Refuses an ELF that reads cycle or instruction counters: on the simulated CPU they return host
# time, so a run would not repeat. Arguments: OBJDUMP, ELF.
execute_process(COMMAND ${OBJDUMP} -d ${ELF} OUTPUT_VARIABLE listing RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${OBJDUMP} cannot read ${ELF}")
endif()
set(counter "rdcycle|rdtime|rdinstret|mcycle|minstret|csr[a-z]+[\t ][^\n]*,(cycle|time|instret)")
string(REGEX MATCH "[^\n]*(${counter})[^\n]*" found "${listing}")
if(found)
    file(REMOVE ${ELF})
    message(FATAL_ERROR "firmware reads a counter that is not deterministic; "
                        "use the timer of the platform device instead:\n${found}")
endif()
